"""Calibration: fits the host parameters of a network file to measured tables of messages, and reports the error."""
