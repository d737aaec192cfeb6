# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m xetile.cli` is the command `xetile`."""

import sys

from xetile.cli import main

sys.exit(main())
