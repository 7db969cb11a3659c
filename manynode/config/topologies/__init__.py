"""Topologies of networks, one file each, found by kind through ``TOPOLOGIES`` of :mod:`manynode.config.topology`."""
