"""What the runs did: their calls as they were recorded, and what is no communication of the program's own taken out."""
