"""The bridge between simulated ranks and the native MPI job: guests, proxies, and the job of both (README.md)."""
