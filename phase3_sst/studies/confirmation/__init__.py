"""Simulates points of a study again with a second engine and compares them."""
