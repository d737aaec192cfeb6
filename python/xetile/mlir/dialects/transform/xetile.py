# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The transform ops that XeTile adds to schedules, generated from their definition."""

from .._xetile_transform_ops_gen import *  # noqa: F403
