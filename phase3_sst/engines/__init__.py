"""Engines of phase 3, one file each, found by name through :mod:`manynode.registry`."""
