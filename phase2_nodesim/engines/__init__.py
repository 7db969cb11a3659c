"""Engines of phase 2, one file each, found by name through :mod:`manynode.registry`."""
