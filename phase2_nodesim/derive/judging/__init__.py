"""What a skeleton is worth at a number of ranks: it is carried out, matched with itself, compared with recordings."""
