"""How many points are run: points -> folders by digest -> batches of Snakemake -> progress."""
