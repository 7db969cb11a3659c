"""The scaling study: the losses as nodes are added."""
