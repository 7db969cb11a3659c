"""Counters of routers: one table of simulated and of real ones, and the metrics that papers 000 and 001 make of it."""
