#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# For a project with Triton kernels for Intel GPUs, on a machine without one: its tests run on the CPU, its kernels are
# counted, and one that spills fails.
# usage: triton.sh KERNELS.py [TESTS ...]
#   KERNELS.py   a file with KERNELS = [(kernel, arguments, options), ...]: what xetile.triton.report takes
#   PYTHON       the Python with xetile, torch and triton-xpu (default: python3; docs/kernels.md tells how to install)
#   SPILL_LIMIT  bytes that a kernel may spill (default: 0)
set -euo pipefail
kernels=$1
shift
export XETILE_CHECK=${XETILE_CHECK:-1}
# The driver is active before tests import their kernels.
[ $# -eq 0 ] || "${PYTHON:-python3}" -c '
import sys
import pytest
import xetile.triton

xetile.triton.activate()
sys.exit(pytest.main(["-q", *sys.argv[1:]]))' "$@"
exec "${PYTHON:-python3}" - "$kernels" "${SPILL_LIMIT:-0}" <<'PYTHON'
import runpy
import sys

import xetile.triton
from xetile import report

xetile.triton.activate()
limit = int(sys.argv[2])
rows = [
    row
    for kernel, arguments, options in runpy.run_path(sys.argv[1])["KERNELS"]
    for row in xetile.triton.statistics(kernel, *arguments, **options)
]
print(report.format_table(rows))
spilling = [row for row in rows if row.spill_bytes > limit]
for row in spilling:
    print(f"{row.kernel} on {row.chip} spills {row.spill_bytes} bytes, the limit is {limit}", file=sys.stderr)
sys.exit(1 if spilling else 0)
PYTHON
