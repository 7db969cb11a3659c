"""Strong scaling: one problem on more and more nodes, from timing profiles at a few sizes per rank."""
