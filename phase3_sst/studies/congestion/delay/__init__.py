"""What congestion does to the delay of messages, and that delay to run times (Netscope, section 4)."""
