"""The effect of congestion on message delay, and of that delay on run times (Netscope, section 4)."""
