# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `xetile layout --plan` prints is what a kernel loads: messages in XeGPU and XeVM against the planner's."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import re
from collections import Counter
from dataclasses import dataclass

import pytest
import xetile
from xetile import XeTileError, layout, passes
from xetile.cli import layout as layout_cli
from xetile.mlir import ir

PRODUCTS = {"f16": ("f32", 16), "bf16": ("f32", 16), "i8": ("i32", 32)}  # A and B: C, k of one dpas
BYTES = {"f16": 2, "bf16": 2, "i8": 1, "f32": 4, "i32": 4}


@dataclass(frozen=True)
class Access:
    """One access of a kernel, to the matrix of that name, and how `xetile layout` asks for it."""

    matrix: str
    kind: str
    operand: str
    shape: tuple[int, int]
    type: str
    inputs: str

    def plan(self, chip: str) -> list[dict]:
        """The messages that `xetile layout --plan` prints; sides that are no powers of two it does not take."""
        size, options = f"{self.shape[0]}x{self.shape[1]}", ["--type", self.type, "--target", chip]
        if self.kind == "prefetch":
            what = ["--shape", size, "--sg-data", size]
        elif all(side & (side - 1) == 0 for side in self.shape):
            what = ["--dpas", self.operand, "--shape", size]
            options += ["--inputs", self.inputs] if self.operand == "C" else []
        else:
            messages = layout.tile_messages(
                self.operand, self.shape, self.type, inputs=self.inputs, target=chip, access=self.kind
            )
            return [message.to_json() for message in messages]
        return command(*what, *options, "--access", self.kind)["messages"]


def command(*arguments: str) -> dict:
    """The JSON that `xetile layout --plan --json` prints."""
    parser = argparse.ArgumentParser()
    layout_cli.add_parser(parser.add_subparsers())
    options = parser.parse_args(["layout", *arguments, "--plan", "--json"])
    with contextlib.redirect_stdout(io.StringIO()) as text:
        assert options.command(options) == 0
    return json.loads(text.getvalue())


@dataclass(frozen=True)
class Program:
    """A kernel of one subgroup: a product, a copy of a narrow tile, a prefetch."""

    m: int
    n: int
    k: int
    inputs: str
    narrow: str
    piece: tuple[int, int]

    @classmethod
    def draw(cls, rng: random.Random) -> Program:
        inputs, narrow = rng.choice(list(PRODUCTS)), rng.choice(["f16", "i8", "f32"])
        step = PRODUCTS[inputs][1]
        while True:
            m, n, k = (
                8 * rng.choice([1, 2, 3, 4, 6, 8]),
                16 * rng.choice([1, 2, 3, 4, 8]),
                step * rng.choice([1, 2, 3, 4]),
            )
            if BYTES[inputs] * k * (m + n) + 4 * m * n <= 12 * 1024:
                break
        piece = rng.choice([1, 2, 4, 8, 12, 24, 64]), rng.choice([16, 32, 48, 64, 128])
        return cls(m, n, k, inputs, narrow, piece)

    @property
    def sums(self) -> str:
        return PRODUCTS[self.inputs][0]

    def accesses(self) -> list[Access]:
        a, b, c = (self.m, self.k), (self.k, self.n), (self.m, self.n)
        return [
            Access("A", "load", "A", a, self.inputs, self.inputs),
            Access("B", "load", "B", b, self.inputs, self.inputs),
            Access("C", "load", "C", c, self.sums, self.inputs),
            Access("D", "store", "C", c, self.sums, self.inputs),
            Access("N", "load", "C", c, self.narrow, self.inputs),
            Access("O", "store", "C", c, self.narrow, self.inputs),
            Access("P", "prefetch", "A", self.piece, self.inputs, self.inputs),
        ]

    def text(self) -> str:
        accesses = {access.matrix: access for access in self.accesses()}

        def sized(name: str) -> str:
            access = accesses[name]
            return f"{access.shape[0]}x{access.shape[1]}x{access.type}"

        parameters = ", ".join(f"%{name}: memref<512x512x{access.type}>" for name, access in accesses.items())
        tiles = "\n".join(
            f"%t{name} = xetile.init_tile %{name}[0, 0] : memref<512x512x{access.type}> -> !xetile.tile<{sized(name)}>"
            for name, access in accesses.items()
        )
        loads = "\n".join(
            f"%v{name} = xetile.load_tile %t{name} : !xetile.tile<{sized(name)}> -> vector<{sized(name)}>"
            for name in "ABCN"
        )
        vectors = ", ".join(f"vector<{sized(name)}>" for name in "ABC")
        return f"""gpu.module @device {{ gpu.func @f({parameters}) kernel {{
          {tiles}
          xetile.prefetch_tile %tP locality<3> : !xetile.tile<{sized("P")}>
          {loads}
          %d = xetile.tile_mma %vA, %vB, %vC : {vectors} -> vector<{sized("D")}>
          xetile.store_tile %d, %tD : vector<{sized("D")}>, !xetile.tile<{sized("D")}>
          xetile.store_tile %vN, %tO : vector<{sized("O")}>, !xetile.tile<{sized("O")}>
          gpu.return
        }} }}"""


def lower(program: Program, pipeline: str) -> str:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(program.text())
        passes.run(module, pipeline)
        return str(module)


def xegpu_messages(text: str, names: str) -> dict[str, list[tuple]]:
    """For each matrix its accesses in order: kind, element type, rows, columns, blocks, place."""
    arguments = dict(zip(re.findall(r"(%\w+): memref", text), names, strict=True))
    descriptors = {
        found[1]: (arguments[found[2]], found[5], int(found[3]), int(found[4]), int(found[6] or 1))
        for found in re.finditer(
            r"(%\w+) = xegpu.create_nd_tdesc (%\w+) : memref<[^>]+> -> "
            r"!xegpu.tensor_desc<(\d+)x(\d+)x(\w+)(?:, #xegpu.block_tdesc_attr<array_length = (\d+) : i64>)?>",
            text,
        )
    }
    messages: dict[str, list[tuple]] = {name: [] for name in names}
    for line in text.splitlines():
        found = re.search(r"xegpu\.(load|store|prefetch)_nd (?:%\w+, )?(%\w+)\[(\d+), (\d+)\]", line)
        if found:
            assert "transpose" not in line and "packed" not in line  # lanes are the next level's business
            name, *shape = descriptors[found[2]]
            messages[name].append((found[1], *shape, (int(found[3]), int(found[4]))))
        else:
            assert "_nd " not in line or "create_nd" in line, line
    return messages


def expected_messages(access: Access, chip: str) -> list[tuple]:
    messages = access.plan(chip)
    for message in messages:
        assert (message["element_bits"], message["transpose"]) == (8 * BYTES[access.type], False)
    return [
        (
            access.kind,
            access.type,
            message["height"],
            message["width"],
            message["blocks"],
            (message["row"], message["col"]),
        )
        for message in messages
    ]


@pytest.mark.parametrize("chip", ["pvc", "bmg"])
def test_xegpu_has_the_planned_messages(chip, seed):
    rng = random.Random(seed)
    for _ in range(50):
        program = Program.draw(rng)
        accesses = program.accesses()
        text = lower(program, f"gpu.module(convert-xetile-to-xegpu{{chip={chip}}},canonicalize)")
        got = xegpu_messages(text, "".join(access.matrix for access in accesses))
        for access in accesses:
            # Blocks of a tile come row by row, whatever the order of registers in the plan.
            assert sorted(got[access.matrix]) == sorted(expected_messages(access, chip)), (program, access)


@pytest.mark.parametrize("chip", ["pvc", "bmg"])
def test_xevm_transforms_what_the_plan_transforms(chip, seed):
    """Lanes are chosen below XeGPU: the messages there transform and transpose as planned."""
    rng = random.Random(seed)
    for _ in range(5):
        program = Program.draw(rng)
        text = lower(
            program,
            f"xetile-lower-to-xegpu{{chip={chip}}},"
            f"xetile-lower-xegpu-to-xevm{{chip={chip} xegpu-op-level=instruction}}",
        )
        got = Counter()
        for line in text.splitlines():
            if kind := re.search(r"xevm\.block(load|store|prefetch)2d", line):
                value = dict(re.findall(r"(\w+) = (\w+)", line))
                shape = tuple(
                    int(value.get(name, 1)) for name in ("elem_size_in_bits", "tile_height", "tile_width", "v_blocks")
                )
                got[kind[1], *shape, value.get("transpose") == "true", value.get("pack_register") == "true"] += 1
        want = Counter(
            (
                access.kind,
                *(message[name] for name in ("element_bits", "height", "width", "blocks", "transpose", "transform")),
            )
            for access in program.accesses()
            for message in access.plan(chip)
        )
        assert got == want, program


@pytest.mark.parametrize("chip", ["pvc", "bmg"])
def test_a_step_of_the_k_loop(chip):
    """Of 4096^3 by defaults: a message of two blocks for A, two that transform for B, 32 multiplications, and beside
    them only slices of vectors."""
    stages = xetile.compile(xetile.matmul(4096, 4096, 4096, "f16"), target=chip).stages
    loop = stages["4-xegpu"].partition("scf.for")[2].partition("scf.yield")[0]
    assert re.findall(r"xegpu\.load_nd .*-> (\S+)", loop) == ["vector<2x32x16xf16>"] * 3
    assert loop.count("xegpu.dpas") == 32
    assert set(re.findall(r"vector\.\w+", loop)) <= {"vector.extract", "vector.extract_strided_slice"}
    loads = [line for line in stages["5-xevm"].splitlines() if "xevm.blockload2d" in line and "in_bits = 16" in line]
    assert all("tile_height = 32 : i32, tile_width = 16 : i32" in line and "v_blocks = 2" in line for line in loads)
    assert Counter(re.search(r"pack_register = (\w+)", line)[1] for line in loads) == {"false": 1, "true": 2}


def test_every_plan_is_proven(seed):
    """The plans that the kernels above make, run on the model of messages."""
    rng = random.Random(seed)
    for _ in range(50):
        for access in Program.draw(rng).accesses():
            shape = [side & -side for side in access.shape]
            if access.kind != "prefetch":
                inputs = layout.Dpas.of(access.inputs)
                plan = layout.plan(access.operand, shape, access.type, inputs, access=access.kind)
                plan.prove(
                    rng.randint(1, 100), 4 * rng.randint(1, 50), y=rng.randint(-20, 90), x=4 * rng.randint(-9, 40)
                )


def test_prefetches_without_messages_are_refused():
    with pytest.raises(XeTileError, match="width of a 16-bit 2D block prefetch is 1 elements, expected 16"):
        command("--shape", "256x32", "--sg-data", "8x1", "--type", "f16", "--access", "prefetch")
    with pytest.raises(XeTileError, match="--plan: expected --dpas, or --access prefetch"):
        command("--shape", "256x32", "--sg-data", "8x32", "--type", "f16", "--access", "store")
    with pytest.raises(XeTileError, match="expected --type"):
        command("--shape", "256x32", "--sg-data", "8x32", "--access", "prefetch")
