"""``python -m imp_driver`` is the command ``imp``."""

import sys

from imp_driver.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
