"""The machine that SST simulates: described without SST, passed to SST by a thin layer.

``machine.py`` is the script that runs inside ``sst``; everything else needs only Python's standard library (3.9 or
later), and tests, the engine and the parsers use it outside SST. ``README.md`` describes the mapping of the model in
``phase3_sst/engines/fast/README.md`` to merlin and firefly, and the differences.
"""
