"""gem5 as a node engine: from a machine file to a board, the board's script, its statistics and CPI stacks."""
