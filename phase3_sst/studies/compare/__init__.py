"""The same experiment with several engines: how far their results agree, and where they do not."""
