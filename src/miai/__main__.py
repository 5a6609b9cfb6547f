"""`python -m miai` is the command `miai`: for environments whose scripts are not on the path."""

import sys

from miai.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
