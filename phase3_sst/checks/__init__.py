"""Checks of a network before it is simulated: pre-flight probes, line rates, reaction to a sweep."""
