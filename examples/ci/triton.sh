#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# For a project with Triton kernels for Intel GPUs, on a machine without one: its tests run on the CPU, its kernels are
# counted, and one that spills, or spills more than before, fails.
# usage: triton.sh KERNELS.py [TESTS ...]
#   KERNELS.py   a file with KERNELS = [(kernel, arguments, options), ...]: what xetile.triton.report takes
#   PYTHON       the Python with xetile, torch and triton-xpu (default: python3; docs/kernels.md tells how to install)
#   SPILL_LIMIT  bytes that a kernel may spill (default: 0, with BASELINE as many as there)
#   BASELINE     a file of the repository with the counts that are to be kept; it is written where there is none
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
exec "${PYTHON:-python3}" - "$kernels" "${SPILL_LIMIT:-}" "${BASELINE:-}" <<'PYTHON'
import os
import runpy
import sys

import xetile.triton
from xetile.reports import baseline, report

xetile.triton.activate()
limit, kept = sys.argv[2], sys.argv[3]
rows = [
    row
    for kernel, arguments, options in runpy.run_path(sys.argv[1])["KERNELS"]
    for row in xetile.triton.statistics(kernel, *arguments, **options)
]
print(report.format_table(rows))
before = baseline.read(kept) if os.path.exists(kept) else {}
if kept and not before:
    baseline.write(kept, rows)
    before = baseline.read(kept)
failed = False
for row in rows:
    figures = before.get((row.kernel, row.chip), {})
    most = int(limit or figures.get("spill_bytes", 0))
    if row.spill_bytes > most:
        why = "the limit is" if limit or not figures else "before it was"
        print(f"{row.kernel} on {row.chip} spills {row.spill_bytes} bytes, {why} {most}", file=sys.stderr)
        failed = True
sys.exit(failed)
PYTHON
