"""Calibration of nodes: measures this host with microbenchmarks and writes its machine file, with the errors."""
