"""One small file per source of real counters, found by name; the contract is in ``interface.py``."""
