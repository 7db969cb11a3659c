"""Congestion studies: several jobs on one machine, what its counters tell of them, and what can be done about it."""
