"""What-if studies compare alternatives of a machine; see docs/studies.md."""
