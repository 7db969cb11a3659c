"""Runs many points: points -> folders by digest -> batches of Snakemake -> progress."""
