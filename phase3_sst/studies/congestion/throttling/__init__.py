"""Three ways of holding back what jobs inject into the network, side by side (Netscope, sections 5 and 6.2)."""
