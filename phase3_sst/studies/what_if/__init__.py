"""What-if studies: alternatives of a machine beside each other; see docs/how-to/compare-offers.md."""
