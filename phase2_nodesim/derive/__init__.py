"""Derives a scale-free skeleton from recordings of a program at several numbers of ranks and problem sizes.

:func:`.derivation.derive` is the way in: recordings in, a skeleton of the contract ``derived-skeleton/1`` and a report
out. :func:`.settled.settled` records the runs that decide what is open. Rooms, in the order in which data passes them:
``recorded``, ``grids``, ``sequence``, ``rules``, ``writing``. :func:`.judging.verdict.verdict` says what a skeleton is
worth at a number of ranks that nobody has run. Nothing here guesses: what the recordings leave open is a doubt in the
file, and a doubt that matters at the number of ranks asked for is a refusal.
"""
