"""The engine sst: its machine (runs inside sst), the run, the element library and the link control (C++)."""
