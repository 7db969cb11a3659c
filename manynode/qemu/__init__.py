"""QEMU's user mode as phases 1 and 2 use it: finding it, the program under it, its environment, its failures."""
