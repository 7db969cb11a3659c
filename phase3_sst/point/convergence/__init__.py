"""Simulates iterations until their time has converged and extrapolates the others, unless a check forbids it."""
