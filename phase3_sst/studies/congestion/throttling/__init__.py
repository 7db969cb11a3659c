"""Compares three controllers of the injection of jobs into the network (Netscope, sections 5 and 6.2)."""
