"""Phase 2: compute times between MPI calls on the target node -> timing profile."""
