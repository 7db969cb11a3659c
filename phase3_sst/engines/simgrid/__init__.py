"""The engine simgrid."""
