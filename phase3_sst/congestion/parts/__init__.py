"""The parts of a congestion study, one module each, found by name (:mod:`phase3_sst.congestion.part`)."""
