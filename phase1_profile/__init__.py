"""Phase 1: hardware counters per rank -> classes of ranks -> the smallest set of nodes that represents them."""
