"""Phase 1: hardware counters per rank -> classes of ranks -> the fewest nodes that represent them."""
