# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a matmul of f16 with several tiles, and lists what each costs in machine code: no GPU runs.

python sweep.py matmul.mlir [CHIP]
"""

import sys
from itertools import product

import xetile
from xetile import report

payload, chip = sys.argv[1], (sys.argv[2:] or ["pvc"])[0]
found = []
for tile, subgroups, step in [(None, None, None), *product([(64, 64), (128, 128)], [(2, 2), (4, 4)], [16, 32])]:
    given = {} if tile is None else {"workgroup_tile": tile, "subgroup_layout": subgroups, "k_step": step}
    try:
        kernel = xetile.compile(payload, xetile.schedule.matmul(**given), target=chip, native="off")
    except xetile.XeTileError as error:
        (reason, *_) = [line for line in str(error).splitlines() if "error: " in line] or str(error).splitlines()
        print(f"{tile[0]} x {tile[1]} in {subgroups[0]} x {subgroups[1]}, k {step}: {reason.partition('error: ')[2]}")
        continue
    (counts,) = report.statistics(kernel.spirv, chip)
    loop = counts.loop or counts.code
    dpas = loop["dpas"]
    name = f"{tile[0]} x {tile[1]} in {subgroups[0]} x {subgroups[1]}, k {step}" if tile else "the compiler's choice"
    print(
        f"{name:28} spills {counts.spill_bytes:5} bytes;  in the loop {loop.total:4} instructions, {dpas:3} dpas, "
        f"{counts.bytes_per_dpas:5.0f} bytes for each"
    )
    if given and not counts.spill_bytes and dpas:
        found.append((counts.bytes_per_dpas, loop.total / dpas, given))

_, _, best = min(found, key=lambda entry: entry[:2])
print("fewest bytes without a spill:", best)
