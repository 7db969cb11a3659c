"""Studies: many points of one experiment that answer one question."""
