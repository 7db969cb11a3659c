"""What the points of an experiment will take, before they are launched."""
