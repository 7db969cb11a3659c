"""The validation: compares projections with measured times."""
