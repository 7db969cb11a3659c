"""Paper 000: how far a run was from its usual time, told by the counters of the routers that its nodes hang on."""
