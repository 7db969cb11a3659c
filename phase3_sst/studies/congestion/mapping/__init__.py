"""Mapping ranks to nodes by what the network's counters tell (Brandt et al., 2014): graphs, mappings, rank files."""
