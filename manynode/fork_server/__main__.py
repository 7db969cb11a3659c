"""Runs Snakemake, in a fork of the server if there is one: ``python -m manynode.fork_server ARGUMENTS...``."""

from __future__ import annotations

from manynode.fork_server.client import run_there


def main() -> None:
    """Run Snakemake with this process's arguments."""
    run_there("snakemake")
    from snakemake.cli import main as snakemake

    snakemake()


if __name__ == "__main__":
    main()
