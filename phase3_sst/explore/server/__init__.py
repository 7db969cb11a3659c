"""The local web application of ``manynode explore``: the server, its guard, and the page that it serves."""
