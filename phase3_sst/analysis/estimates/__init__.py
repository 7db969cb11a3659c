"""Estimates time and memory of an experiment's points before they are launched."""
