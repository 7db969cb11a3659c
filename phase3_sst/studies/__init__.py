"""Studies: many points of one experiment brought to an answer."""
