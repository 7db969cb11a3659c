"""Sources of counters per rank, one file each; :mod:`~phase1_profile.sources.interface` is the contract."""
