"""The sensitivity study: what each parameter of the network changes."""
