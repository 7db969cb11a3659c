"""One simulated point: the contract of an engine, its run file and result, placement, convergence."""
