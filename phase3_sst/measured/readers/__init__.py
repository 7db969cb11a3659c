"""One small file per tool whose reports of a run can be read, found by name; the contract is in ``interface.py``."""
