"""Expressions that give what was seen: when a call happens, with whom, how many bytes. All that fit are kept."""
