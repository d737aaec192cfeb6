# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of block messages on pages of levels, held against the plans of these messages."""

import pytest
from page_programs import data_of, ops_named
from xetile import layout
from xetile.compiling import compiler


def product(elements: str, is_transposed: bool) -> str:
    """A product of 256 x 256 elements, of a transposed B if wanted."""
    sums = "i32" if elements == "i8" else "f32"
    right = "(n, k)" if is_transposed else "(k, n)"
    maps = ", ".join(f"affine_map<(m, n, k) -> {to}>" for to in ("(m, k)", right, "(m, n)"))
    kind, result = f"tensor<256x256x{elements}>", f"tensor<256x256x{sums}>"
    return f"""func.func @product(%a: {kind}, %b: {kind}, %c: {result}) -> {result} {{
  %r = linalg.matmul indexing_maps = [{maps}] ins(%a, %b : {kind}, {kind}) outs(%c : {result}) -> {result}
  return %r : {result}
}}"""


MESSAGES = {
    "two blocks": ("f16", False, "message of 2 x 32 x 16 f16", ("B", (32, 32), (1, 2))),
    "8 bits, rows of 32": ("i8", False, "message of 2 x 32 x 32 i8", ("A", (32, 64), (4, 2))),
    "8 bits, transformed": ("i8", False, "message of 4 x 32 x 16 i8", ("B", (32, 64), (1, 4))),
    "transposing": ("f16", True, "transposing message of 32 x 16 f16 of memory", ("B", (16, 32), (1, 2))),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_the_picture_of_a_message_is_what_its_plan_takes_of_it(tmp_path, name):
    """Each operand of the matrix unit is a slice of the registers that a message fills."""
    elements, is_transposed, title, (operand, shape, cluster) = MESSAGES[name]
    payload, path = tmp_path / "product.mlir", tmp_path / "product.html"
    payload.write_text(product(elements, is_transposed))
    compiler.show(payload, target="pvc", native="off", path=path)
    data = data_of(path)
    dpas = layout.Dpas.of(elements, rep_cluster=cluster)
    plan = layout.plan(operand, shape, elements, dpas, contiguous_dim=0 if is_transposed else 1)
    (picture,) = [one for one in data["pictures"] if one["title"] == f"{title}: lane L, its register R"]
    places = {
        tuple(cell): (column, row) if is_transposed else (row, column)
        for row, cells in enumerate(picture["cells"])
        for column, cell in enumerate(cells)
    }
    assert len(places) == shape[0] * shape[1]
    for register in range(shape[0] * shape[1] // 16):
        (part,) = [part for tile in plan.slices for part in tile if 0 <= register - part.register < part.count]
        for lane in range(16):
            wanted = layout.apply(plan.operand, register=register, lane=lane, subgroup=0)
            assert places[lane, part.source + register - part.register] == (wanted["dim0"], wanted["dim1"])
    level = data["levels"][4]
    loads = ops_named(level, "xegpu.load_nd")
    assert loads and all(level["pictures"][str(load[0])] for load in loads)
