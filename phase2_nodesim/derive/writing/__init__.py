"""From the structure that the runs show to the body of a skeleton, with a doubt for each thing they leave open."""
