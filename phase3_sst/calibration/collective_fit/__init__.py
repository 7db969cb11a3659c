"""Fits a network's host parameters to measured collectives, by simulation; see ``solve.py``."""
