"""One small file per form of measured campaigns, found by name; the contract is in ``interface.py``."""
