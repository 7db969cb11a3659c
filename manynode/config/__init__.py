"""The experiment: what can be said in it, declared once, checked, resolved, documented."""
