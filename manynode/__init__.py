"""Code shared by the phases: command line, configuration, units, seeds, tables, provenance, processes, report.

This package imports no phase; the phases meet only in files whose schemas are described in ``docs/design.md``.
"""

__version__ = "0.2.0"
