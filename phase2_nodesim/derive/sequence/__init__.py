"""One sequence of calls for all ranks of all runs: aligned, walks and loops folded, with what was seen of each call."""
