"""`python -m befrl` is the command `befrl`."""

import sys

from befrl.cli import main

sys.exit(main())
