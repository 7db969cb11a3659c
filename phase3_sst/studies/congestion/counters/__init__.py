"""Counters of routers, simulated and real in one table, and the metrics that two papers make of it."""
