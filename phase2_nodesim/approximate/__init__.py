"""Approximate skeletons, of programs whose communication follows the data: a recorded run, lifted to larger jobs.

A job of m times as many ranks is m copies of the run. Every message of the run is one of each copy, to the same or to
another copy (a covering of the graph of messages), and the collectives of all ranks are one. Whatever copies the
messages go to, the job matches itself, and ends: its events are ordered as those of the run. The C++ half is
``skeletons/recorded/lift.cpp``.
"""
