# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which 2D block messages load an operand of the matrix unit, and what each lane then holds. Needs no GPU and no MLIR.

python examples/layout_plan.py
"""

from xetile import XeTileError, layout

# B of a workgroup's matmul: 32 x 256 elements, for 8 x 4 subgroups that repeat the instruction 4 x 2 times.
dpas = layout.Dpas.of("f16", subgroups=(8, 4), rep_cluster=(4, 2))
plan = layout.plan("B", (32, 256), "f16", dpas, target="pvc")
print(plan)

# The element that register 5 of lane 3 of subgroup 0 holds.
place = layout.apply(plan.operand, register=5, lane=3, subgroup=0)
print(f"\nregister 5 of lane 3 is element ({place['dim0']}, {place['dim1']}) of B")

# Every register of every lane, on a surface whose edge cuts the tile: elements outside must read as zeros.
plan.prove(height=30, width=250)

# What the compiler makes of a subgroup's own tile, of any size.
for message in layout.tile_messages("A", (24, 32), "f16", target="pvc"):
    print(f"A, 24x32: {message}")

# Memory that the messages cannot read is refused with the limit that it breaks.
try:
    layout.plan("A", (8, 16), "f16", surface=layout.Surface(pitch=1001 * 2))
except XeTileError as error:
    print(f"rows of 1001 elements: {error}")
