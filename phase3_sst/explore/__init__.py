"""Explore: questions about the design space on the measured timing profiles of one experiment."""
