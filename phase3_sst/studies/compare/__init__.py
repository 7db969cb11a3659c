"""Runs the same experiment with several engines and compares the results."""
