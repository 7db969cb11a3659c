"""Code that runs inside gem5, in gem5's own Python: standard library and gem5's modules only.

``run.py`` is the script; ``node.py`` builds the node, ``cores.py``, ``caches.py`` and ``memory.py`` its parts;
``gate.py`` releases the host's core while all ranks wait; ``counts.py`` reads the statistics of each compute phase.
"""
