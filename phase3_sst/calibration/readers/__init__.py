"""One small file per format of measured tables, found by name; the contract is in ``interface.py``."""
