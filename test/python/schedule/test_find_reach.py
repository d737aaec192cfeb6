# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where `online` says that a mask begins and ends rows of scores (`xetile.reach`), and which masks it leaves alone."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from attention_programs import Attention
from xetile.mlir import ir
from xetile.schedule import Module, define, ops
from xetile.schedule.handles import Function

CASE = Attention(heads=1, rows=20, keys=48, inner=16, values=16, mask="causal", offset=3)
ALL = 2**40
SHOWN, HIDDEN = "arith.select %c, %f, %low", "arith.select %c, %low, %f"
# Of queries %i, keys %j and %to = %i + 3: the condition %c, what it selects, the first and the last key that are seen.
MASKS = {
    "keys up to i + 3": ("%c = arith.cmpi sle, %j, %to : index", SHOWN, -ALL, 3),
    "keys below i + 3": ("%c = arith.cmpi slt, %j, %to : index", SHOWN, -ALL, 2),
    "i + 3 is not below": ("%c = arith.cmpi sge, %to, %j : index", SHOWN, -ALL, 3),
    "keys above i + 3 are hidden": ("%c = arith.cmpi sgt, %j, %to : index", HIDDEN, -ALL, 3),
    "keys from i + 3 on are hidden": ("%c = arith.cmpi sge, %j, %to : index", HIDDEN, -ALL, 2),
    "keys from i + 3 on": ("%c = arith.cmpi sge, %j, %to : index", SHOWN, 3, ALL),
    "keys above i + 3": ("%c = arith.cmpi sgt, %j, %to : index", SHOWN, 4, ALL),
    "keys below i + 3 are hidden": ("%c = arith.cmpi sgt, %to, %j : index", HIDDEN, 3, ALL),
    "not": (
        "%n = arith.cmpi sgt, %j, %to : index\n%true = arith.constant true\n%c = arith.xori %n, %true : i1",
        SHOWN, -ALL, 3,
    ),
    "both": (
        "%a = arith.cmpi sle, %j, %to : index\n%b = arith.cmpi sge, %j, %i : index\n%c = arith.andi %a, %b : i1",
        SHOWN, 0, 3,
    ),
    "hidden by either": (
        "%a = arith.cmpi sgt, %j, %to : index\n%b = arith.cmpi slt, %j, %i : index\n%c = arith.ori %a, %b : i1",
        HIDDEN, 0, 3,
    ),
    "the nearer of two": (
        "%a = arith.cmpi sle, %j, %to : index\n%b = arith.cmpi sle, %j, %i : index\n%c = arith.andi %a, %b : i1",
        SHOWN, -ALL, 0,
    ),
    "the nearer of two, first": (
        "%a = arith.cmpi sle, %j, %i : index\n%b = arith.cmpi sle, %j, %to : index\n%c = arith.andi %a, %b : i1",
        SHOWN, -ALL, 0,
    ),
    "one of what is no mask": (
        "%a = arith.cmpi sle, %j, %to : index\n%b = arith.cmpi ne, %j, %by : index\n%c = arith.andi %a, %b : i1",
        SHOWN, -ALL, 3,
    ),
}  # fmt: skip
OTHERS = {
    "either is enough": (
        "%a = arith.cmpi sle, %j, %to : index\n%b = arith.cmpi sge, %j, %i : index\n%c = arith.ori %a, %b : i1",
        SHOWN,
    ),
    "hidden by both": (
        "%a = arith.cmpi sgt, %j, %to : index\n%b = arith.cmpi slt, %j, %i : index\n%c = arith.andi %a, %b : i1",
        HIDDEN,
    ),
    "one diagonal": ("%c = arith.cmpi eq, %j, %to : index", SHOWN),
    "unsigned numbers": ("%c = arith.cmpi ule, %j, %to : index", SHOWN),
    "two keys a query": ("%t = arith.addi %j, %j : index\n%c = arith.cmpi sle, %t, %to : index", SHOWN),
    "sums of places": ("%t = arith.addi %j, %i : index\n%c = arith.cmpi sle, %t, %by : index", SHOWN),
    "the same keys of all queries": ("%c = arith.cmpi sle, %j, %by : index", SHOWN),
    "places of heads, too": (
        "%h = linalg.index 1 : index\n%t = arith.addi %to, %h : index\n%c = arith.cmpi sle, %j, %t : index",
        SHOWN,
    ),
}


@define
def online(module: Module) -> Module:
    ops.online(ops.match(module, Function, ops=["func.func"]), 16)
    return module


def reach(condition: str, select: str, **fields: float) -> tuple[str | None, str]:
    """The attribute of the loop, and the loop."""
    text = replace(CASE, **fields).text()
    text = text.replace("%c = arith.cmpi sle, %j, %to : index", condition).replace(SHOWN, select)
    with ir.Context(), ir.Location.unknown():
        made = str(online.apply(ir.Module.parse(text)))
    found = re.search(r"xetile.reach = array<i64: (.*?)>", made)
    return found and found[1], made


@pytest.mark.parametrize("name", MASKS)
def test_masks_begin_and_end_rows(name):
    condition, select, first, last = MASKS[name]
    assert reach(condition, select)[0] == f"2, 3, {first}, {last}"


@pytest.mark.parametrize("name", OTHERS)
def test_other_masks_do_not(name):
    found, made = reach(*OTHERS[name])
    assert found is None and "xetile.seen" not in made and "scf.for" in made


def test_low_numbers_are_no_mask():
    assert reach(*MASKS["keys up to i + 3"][:2], low=-65504.0)[0] is None


def test_a_comparison_is_known_where_it_is_the_end_of_what_is_seen():
    found, made = reach(*MASKS["the nearer of two"][:2])
    assert made.count("xetile.seen = true") == 1
    assert found and reach(*MASKS["keys above i + 3 are hidden"][:2])[1].count("xetile.seen = false") == 1
