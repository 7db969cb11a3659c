"""The generated pages of the reference: commands from the command line, result files from ``schemas.yaml``.

The page of experiment keys is made where the keys are declared (:mod:`manynode.config.generate`), which also writes and
compares all pages.
"""
