"""Running SST: what is installed, the files and the command of a run, the watch over it, its failures and results."""
