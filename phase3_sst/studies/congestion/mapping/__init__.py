"""Maps ranks to nodes from the network's counters (Brandt et al., 2014): graphs, mappings, rank files."""
