"""Derived skeletons: files that describe an application's calls as a function of ranks and parameters.

:mod:`.skeleton_file` reads and checks a file (``derived-skeleton/1``) and compiles it for the C++ interpreter
(``skeletons/derived/``); :mod:`.expression` evaluates its expressions for all ranks at once; :mod:`.grids` has the
rules that arrange ranks in a grid.
"""
