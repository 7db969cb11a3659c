"""The grid of ranks behind the messages of all runs, and the points (ranks of runs) on which expressions are tried."""
