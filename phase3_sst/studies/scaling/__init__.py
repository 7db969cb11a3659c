"""The scaling study: where the time goes as nodes are added."""
