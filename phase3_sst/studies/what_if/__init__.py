"""What-if studies: alternatives of a machine beside each other; see docs/studies.md."""
