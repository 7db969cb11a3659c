"""Congestion studies: several jobs on one machine, its link counters, and remedies."""
