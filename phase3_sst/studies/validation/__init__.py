"""The validation: projections beside measured times."""
