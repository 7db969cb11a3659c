"""Runs SST: finds the installation, writes files, starts and watches a run, reads failures and results."""
