"""The sensitivity study: the effect of each network parameter."""
