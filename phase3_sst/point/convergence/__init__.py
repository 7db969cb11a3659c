"""Simulate iterations until their time has converged, and extrapolate the others, with checks that say when not to."""
