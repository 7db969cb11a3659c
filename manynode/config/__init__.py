"""The experiment file: every key is declared once here; checks, schema and reference follow from it."""
