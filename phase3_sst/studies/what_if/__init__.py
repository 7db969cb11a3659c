"""What-if studies compare alternatives of a machine; see docs/how-to/compare-offers.md."""
