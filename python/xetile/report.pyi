# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# For type checkers: the package finds the module by this name, too (_moved.py).
from xetile.reports.report import *  # noqa: F403
