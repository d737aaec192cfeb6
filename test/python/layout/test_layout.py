# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xetile.layout, `xetile layout` and its pictures. The algebra and the planner have their own tests in test/Layout."""

from __future__ import annotations

import argparse
import json
import math
import random
from pathlib import Path

import pytest
from xetile import XeTileError, layout
from xetile.cli import layout as layout_cli
from xetile.layout import draw

INPUTS = Path(__file__).parents[2] / "Layout" / "Inputs"
DOCUMENT = layout.Dpas.of("f16", subgroups=(8, 4), rep_cluster=(4, 2))


def run(*arguments: str) -> int:
    """The command, as `xetile` would run it."""
    parser = argparse.ArgumentParser()
    layout_cli.add_parser(parser.add_subparsers())
    options = parser.parse_args(["layout", *arguments])
    return options.command(options)


DOCUMENT_A = ("--dpas", "A", "--shape", "256x32", "--type", "f16", "--rep-cluster", "4x2", "--subgroups", "8x4")
DOCUMENT_B = ("--dpas", "B", "--shape", "32x256", "--type", "f16", "--rep-cluster", "4x2", "--subgroups", "8x4")


@pytest.mark.parametrize(("arguments", "file"), [(DOCUMENT_A, "warp0-a.txt"), (DOCUMENT_B, "warp0-b.txt")])
def test_hardware_view_prints_the_published_tables(arguments, file, capsys):
    assert run(*arguments, "--hw-view", "--subgroup", "0") == 0
    assert capsys.readouterr().out == (INPUTS / file).read_text()


def test_tensor_view_names_every_holder(capsys):
    assert run(*DOCUMENT_A) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 256
    assert lines[0].startswith("S0-3:L 0:R 0, S0-3:L 1:R 0, ")
    assert lines[255].endswith(", S28-31:L15:R63")


def test_plan_prints_messages_registers_and_growth(capsys):
    assert run(*DOCUMENT_B, "--plan") == 0
    text = capsys.readouterr().out
    assert "load B 32x256 of 16 bits, rows contiguous, on pvc: 2 messages of 2048 bytes, 0 shuffles" in text
    assert "message 1: d16 transform: 32 rows of 16, 2 blocks, at (0, 128)" in text
    assert "DPAS operand 7 <- 1[48:64]" in text
    assert " - load=1 -> (0, 128)\nwhere out dims are: [dim0 (size 16), dim1 (size 256)]" in text
    assert " - base is a multiple of 64 bytes" in text


def test_json_holds_messages(capsys):
    assert run(*DOCUMENT_B, "--order", "0,1", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    message = {"element_bits": 32, "width": 8, "height": 32, "blocks": 1, "transpose": True, "transform": False}
    places = [(0, 0), (16, 0), (0, 128), (16, 128)]
    assert plan["messages"] == [message | {"row": row, "col": col} for row, col in places]
    assert plan["cost"] == {"messages": 4, "bytes": 4096, "shuffles": 8}
    assert plan["layouts"]["loads"]["bases"]["load"] == [[0, 8], [128, 0]]
    assert plan["layouts"]["loads"]["out_dims"] == {"dim0": 256, "dim1": 16}


def plan_of(case: dict) -> layout.Plan:
    given = case["dpas"]
    dpas = layout.Dpas(
        given["repeatCount"],
        given["systolicDepth"],
        given["executionSize"],
        given["opsPerChannel"],
        given["threadsPerWarp"],
        tuple(given["warpsPerCTA"]),
        tuple(given["repCluster"]),
    )
    return layout.plan(
        case["operand"],
        case["shape"],
        case["element_bits"],
        dpas,
        contiguous_dim=case["contiguous_dim"],
        one_matrix=case["one_matrix_per_load"],
    )


def test_conformance_cases_through_python():
    for case in json.loads((INPUTS / "block_loads.json").read_text()):
        plan, expect = plan_of(case), case["expect"]
        message = plan.messages[0]
        got = {name: getattr(message, name) for name in ("element_bits", "width", "height", "blocks", "transpose")}
        assert got | {"vnni": message.transform, "count": len(plan.messages)} == expect, case["name"]


@pytest.mark.parametrize("operand", ["A", "B", "C"])
def test_registers_hold_what_the_layout_says(operand, seed):
    """The register map, applied by hand to what a message means, agrees with the layout; so does the model."""
    type_, shape = ("f32", (32, 32)) if operand == "C" else ("f16", (32, 32))
    dpas = layout.Dpas.of("f16", rep_cluster=(4, 2))
    plan = layout.plan(operand, shape, type_, dpas)
    for register, (number, source) in enumerate(plan.registers):
        message = plan.messages[number]
        # All three come as 16 columns, a column per lane, row after row, block after block.
        block, row = divmod(source, message.height)
        for lane in range(16):
            want = layout.apply(plan.operand, register=register, lane=lane, subgroup=0)
            assert want == {"dim0": message.row + row, "dim1": message.col + block * message.width + lane}
    place = random.Random(seed)
    for _ in range(20):
        height, width = place.randint(1, 80), 2 * place.randint(1, 60)
        plan.prove(height, width, y=place.randint(-20, 60), x=2 * place.randint(-10, 30))


def test_blocks_are_where_registers_come_from():
    """In elements of the operand, of which an element of a message may hold several: for each plan of the conformance
    table the blocks of all messages are what lanes hold of it."""
    widths = set()
    for case in json.loads((INPUTS / "block_loads.json").read_text()):
        if math.prod(case["shape"]) > 1 << 15:
            continue
        plan = plan_of(case)
        assert plan.registers
        wanted = {
            tuple(layout.apply(plan.operand, register=register, lane=lane, subgroup=0).values())
            for register in range(len(plan.registers))
            for lane in range(case["dpas"]["threadsPerWarp"])
        }
        blocks = [block for number in range(len(plan.messages)) for block in plan.blocks(number)]
        got = [(row + i, col + j) for row, col, rows, cols in blocks for i in range(rows) for j in range(cols)]
        assert len(got) == len(set(got)) and set(got) == wanted, case["name"]
        assert len(got) * case["element_bits"] == plan.cost.bytes * 8
        widths |= {(message.element_bits, case["element_bits"]) for message in plan.messages}
    assert any(message > element for message, element in widths)


def test_slices_cover_every_register_once():
    for contiguous_dim in (0, 1):
        plan = layout.plan("B", (32, 256), "f16", DOCUMENT, contiguous_dim=contiguous_dim)
        covered = [part.register + i for parts in plan.slices for part in parts for i in range(part.count)]
        assert covered == list(range(len(plan.registers)))
        for parts in plan.slices:
            for part in parts:
                for i in range(part.count):
                    assert plan.registers[part.register + i] == (part.message, part.source + i)


def test_stores_and_prefetches_have_plans():
    store = layout.plan("C", (256, 256), "f32", DOCUMENT, access="store")
    assert (store.messages[0].width, store.messages[0].height, len(store.messages)) == (16, 8, 16)
    store.prove(1000, 1004, y=900, x=900, subgroup=31)
    prefetch = layout.plan("A", (256, 32), "f16", DOCUMENT, access="prefetch")
    assert len(prefetch.messages) == 1
    assert prefetch.registers == ()
    prefetch.prove(300, 64)


def test_lane_layouts_are_xegpus():
    assert layout.lane_layout("A", "tf32") == layout.LaneLayout((2, 8), (1, 1))
    assert layout.lane_layout("B", "i8") == layout.LaneLayout((1, 16), (4, 1))
    assert layout.lane_layout("A", "i8", subgroup_size=8) == layout.LaneLayout((1, 8), (1, 4))
    tile = layout.lane_layout("B", "f16").linear_layout((16, 16))
    assert layout.LaneLayout.from_linear_layout(tile, packed=2) == layout.LaneLayout((1, 16), (2, 1))


def test_linear_layouts_compose():
    lanes = layout.linear_layout({"lane": [(0, 1), (0, 2)]}, {"row": 1, "col": 4})
    assert layout.apply(lanes, lane=3) == {"row": 0, "col": 3}
    assert str(lanes) == " - lane=1 -> (0, 1)\n   lane=2 -> (0, 2)\nwhere out dims are: [row (size 1), col (size 4)]\n"
    swap = layout.linear_layout({"lane": [(2,), (1,)]}, {"lane": 4})
    assert swap.compose(swap) == layout.LinearLayout.identity(4, "lane", "lane")
    assert swap.invert_and_compose(swap) == layout.LinearLayout.identity(4, "lane", "lane")
    product = layout.LinearLayout.identity(4, "lane", "col").product(layout.LinearLayout.zeros(2, "subgroup", "col"))
    assert layout.apply(product, lane=2, subgroup=1) == {"col": 2}
    assert len({lanes, layout.linear_layout({"lane": [(0, 1), (0, 2)]}, {"row": 1, "col": 4})}) == 1


@pytest.mark.parametrize(
    ("shape", "sg_layout", "sg_data", "expected"),
    [
        ((128, 128), (2, 2), (32, 128), {(0, 0): (0, 1), (32, 0): (2, 3), (64, 0): (0, 1), (96, 0): (2, 3)}),
        ((256, 32), (8, 4), (32, 32), {(32 * i, 0): tuple(range(4 * i, 4 * i + 4)) for i in range(8)}),
        ((32, 256), (8, 4), (32, 64), {(0, 64 * j): tuple(range(j, 32, 4)) for j in range(4)}),
        ((256, 32), (32, 1), (8, 32), {(8 * i, 0): (i,) for i in range(32)}),
        ((256, 128), (32, 1), (8, 1), {(8 * i, j): (i,) for i in range(32) for j in range(128)}),
        (
            (64, 64),
            (8, 8),
            (16, 16),
            {
                (16 * i, 16 * j): tuple(r * 8 + c for r in (i, i + 4) for c in (j, j + 4))
                for i in range(4)
                for j in range(4)
            },
        ),
        ((72, 48), (3, 1), (24, 16), {(24 * i, 16 * j): (i,) for i in range(3) for j in range(3)}),
    ],
)
def test_wg_map_owners(shape, sg_layout, sg_data, expected):
    assert layout.wg_map_owners(shape, sg_layout, sg_data) == expected


@pytest.mark.parametrize("inputs", ["f16", "i8"])
@pytest.mark.parametrize("type_", ["i8", "f16"])
def test_results_may_be_narrowed(inputs, type_, capsys):
    bits = layout.element_bits(type_)
    for access in ("load", "store"):
        arguments = ("--dpas", "C", "--shape", "64x64", "--type", type_, "--inputs", inputs, "--access", access)
        assert run(*arguments, "--plan") == 0
        assert f"{access} C 64x64 of {bits} bits" in capsys.readouterr().out
        plan = layout.plan("C", (64, 64), type_, layout.Dpas.of(inputs), access=access)
        assert (plan.messages[0].element_bits, plan.messages[0].width, plan.cost.shuffles) == (bits, 16, 0)
        plan.prove(60, 68, y=8, x=16)


def test_wg_map_is_printed(capsys):
    assert run("--shape", "128x128", "--subgroups", "2x2", "--sg-data", "32x128") == 0
    assert capsys.readouterr().out.splitlines()[1] == "[32:64, 0:128] subgroups 2, 3"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--dpas", "A", "--shape", "250x32", "--type", "f16"), "shape[0] of A is 250, expected a power of two"),
        (("--dpas", "A", "--shape", "0x32", "--type", "f16"), "shape[0] of A is 0, expected a power of two from 8"),
        (("--dpas", "A", "--shape", "4x32", "--type", "f16"), "at least the 8 of one DPAS instruction (8x16)"),
        (("--dpas", "A", "--shape", "64x32", "--type", "f17"), "unknown type 'f17'; known: f32"),
        (("--dpas", "A", "--shape", "64x32"), "expected --type"),
        (("--shape", "64x32"), "expected either --dpas A|B|C or --sg-data"),
        ((*DOCUMENT_A, "--target", "a770", "--plan"), "unknown chip 'a770'; known: pvc, bmg, lnl"),
        ((*DOCUMENT_A, "--target", "dg2", "--plan"), "has no 2D block messages"),
        ((*DOCUMENT_A, "--repeat-count", "3"), "repeatCount is 3, expected 1, 2, 4 or 8"),
        ((*DOCUMENT_A, "--repeat-count", "-1"), "repeat_count: expected an integer from 0"),
        ((*DOCUMENT_A, "--hw-view", "--subgroup", "32"), "subgroup is 32, expected 0 to 31"),
        (("--dpas", "A", "--shape", "64x32", "--type", "f16", "--subgroups", "3x1"), "expected a power of two from 1"),
        (("--dpas", "A", "--shape", "64x32", "--type", "f16", "--rep-cluster", "16x1"), "expected at most 8"),
        (
            ("--dpas", "A", "--shape", "64x32", "--type", "i8", "--order", "0,1", "--plan"),
            "expected elements of 16 bits",
        ),
        (("--shape", "64x64", "--subgroups", "3x1", "--sg-data", "16x64"), "got 3 * 16 = 48 for 64 elements in"),
        (("--shape", "64x64", "--sg-data", "24x64"), "got sg_data = 24 for 64 elements in dimension 0"),
        (("--shape", "0x64", "--sg-data", "16x64"), "wg_map: shape[0] is 0, expected at least 1"),
        (("--shape", "64x64", "--sg-data", "0x64"), "expected the elements of sg_data to be positive, got 0"),
        (("--shape", "64x64", "--sg-data", "16x64", "--plan"), "--plan: expected --dpas"),
        ((*DOCUMENT_A, "--png", "a.jpg"), "expected a file name that ends in .png"),
    ],
)
def test_refusals_name_the_parameter(arguments, part):
    with pytest.raises(XeTileError) as error:
        run(*arguments)
    assert part in str(error.value)


def test_python_refusals():
    for call, part in (
        (lambda: layout.plan("D", (32, 32), "f16"), "operand is 'D', expected A, B or C"),
        (lambda: layout.plan(0, (32, 32), "f16"), "operand: expected a name, got 0"),
        (lambda: layout.plan("A", (32, 32), None), "unknown type None"),
        (lambda: layout.plan("A", (32,), "f16"), "shape: expected two integers"),
        (lambda: layout.plan("A", (32, 2.5), "f16"), "shape[1]: expected an integer"),
        (lambda: layout.plan("A", (32, 32), "f16", access="peek"), "expected load, store or prefetch"),
        (lambda: layout.plan("A", (32, 32), "f16", surface=layout.Surface(pitch=1001)), "pitch of the surface is 1001"),
        (lambda: layout.plan("A", (32, 32), "f16", surface=layout.Surface(base_align=-1)), "base_align: expected"),
        (lambda: layout.plan("A", (32, 32), "f16").prove(0, 32), "the surface has 0x32 elements"),
        (lambda: layout.plan("A", (32, 32), "f16").prove(64, 64, subgroup=1), "expected 0 to 0"),
        (lambda: layout.LinearLayout.identity(6, "lane", "col"), "expected a power of two"),
        (lambda: layout.apply(layout.LinearLayout.identity(4, "lane", "col"), warp=1), "there is lane"),
        (lambda: layout.linear_layout({"lane": [(0, 1)]}, {"col": 2}), "has 2 coordinates"),
        (lambda: layout.Dpas.of("f16", subgroups=3)._native(), "subgroups: expected two integers"),
    ):
        with pytest.raises(XeTileError) as error:
            call()
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("ids", "text"),
    [((3,), "S3"), ((0, 1, 2), "S0-2"), ((1, 5), "S1,5"), ((0, 4, 8, 12), "S0,4..12"), ((0, 2, 3, 7), "S0,2,3,7")],
)
def test_owners_are_written_briefly_and_none_is_left_out(ids, text):
    assert draw._ids(ids) == text


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_pictures_are_written(suffix, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"b.{suffix}"
    assert run(*DOCUMENT_B, f"--{suffix}", str(path)) == 0
    data = path.read_bytes()
    if suffix == "png":
        assert data.startswith(b"\x89PNG")
    else:
        text = data.decode()
        # Text stays text: the registers of the last DPAS operand, the owners of the first piece, and the gap's edge.
        assert all(f">{label}</" in text for label in ("R127", "S0,4..28", "128"))
    assert capsys.readouterr().err == ""
    assert run("--shape", "72x48", "--subgroups", "3x1", "--sg-data", "24x16", f"--{suffix}", str(path)) == 0
    assert path.read_bytes() != data


def test_a_picture_without_a_plan_warns(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / "a.svg"
    assert run("--dpas", "A", "--shape", "8x32", "--type", "i8", "--order", "0,1", "--svg", str(path)) == 0
    assert "no messages are drawn: 8-bit A with columns contiguous" in capsys.readouterr().err
    assert path.exists()
    with pytest.raises(XeTileError, match="there is no directory"):
        run("--dpas", "A", "--shape", "8x32", "--type", "i8", "--svg", str(tmp_path / "missing" / "a.svg"))
