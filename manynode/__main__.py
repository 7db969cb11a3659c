"""``python -m manynode`` is ``manynode``."""

from manynode.cli import main

if __name__ == "__main__":
    main()
