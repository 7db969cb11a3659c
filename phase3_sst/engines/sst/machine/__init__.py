"""The machine that SST simulates, described without SST and issued to it by a thin layer.

``machine.py`` is the script that runs inside ``sst``; everything else is plain Python of the standard library (3.9 or
later), so that tests, the engine and the parsers use it outside. ``README.md`` says how the model of
``phase3_sst/engines/fast/README.md`` is mapped to merlin and firefly, and what differs.
"""
