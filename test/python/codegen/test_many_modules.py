# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many modules compiled in one process: none sees what the backend kept of another."""

from xegpu_programs import BODY
from xetile import passes
from xetile.mlir import ir

PIPELINE = "xetile-lower-xegpu-to-binary{chip=pvc native=off xegpu-op-level=lane}"


def branches(count: int) -> str:
    """Kernel of `count` branches: so many, and more, blocks of SPIR-V."""
    body = "\n".join(
        f"""%v{i} = memref.load %a[%c0] : memref<64xf32>
        %k{i} = arith.constant {i}.5 : f32
        %p{i} = arith.cmpf ogt, %v{i}, %k{i} : f32
        scf.if %p{i} {{ memref.store %k{i}, %a[%c0] : memref<64xf32> }}"""
        for i in range(count)
    )
    parameters, arguments = "%a: memref<64xf32>", "%a : memref<64xf32>"
    return BODY.format(extra="", attributions="", body=body, threads=16, parameters=parameters, arguments=arguments)


def test_ids_of_blocks_are_of_this_module():
    # Without FreshBlockNumbers.cpp about one module in ten is not valid: ids are defined twice or out of bounds.
    for _ in range(50):
        for count in (60, 2, 1, 9):
            with ir.Context():
                passes.run(ir.Module.parse(branches(count)), PIPELINE)
