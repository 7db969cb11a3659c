"""Points of a study simulated again by a second engine, and compared."""
