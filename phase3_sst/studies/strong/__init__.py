"""Strong scaling: one problem on increasing node counts, from timing profiles at a few sizes per rank."""
