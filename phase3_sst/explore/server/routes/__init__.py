"""The addresses of the server, a file per subject; each has ``routes(site)``."""
