"""The bridge between simulated ranks and the native MPI job: guests, proxies, and their common job (README.md)."""
