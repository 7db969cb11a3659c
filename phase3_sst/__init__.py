"""Phase 3: skeletons with Monte-Carlo compute times on a simulated network -> makespan and breakdown."""
