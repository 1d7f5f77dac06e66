"""``python -m partwise.cli``."""

import sys

from . import main

sys.exit(main())
