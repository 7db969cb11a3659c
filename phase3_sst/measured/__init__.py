"""Converts reports of other tools to the measurement tables of a validation study (``manynode measured``)."""
