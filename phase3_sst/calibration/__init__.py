"""Calibration: measured tables of messages in, the host parameters of a network file out, with the error of the fit."""
