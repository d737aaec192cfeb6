# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Microkernels in AMX tile registers: their instructions carried out by NumPy, as few machines have them.

The vector code at the edges runs on this machine, whatever it is: its dot products are computed in other ops.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import math
import re
from collections.abc import Mapping

import machines
import numpy as np
import pytest
from ml_dtypes import bfloat16
from xetile import XeTileError, cpu
from xetile.compiling import compiler
from xetile.mlir import ir
from xetile.mlir.execution_engine import ExecutionEngine
from xetile.system import machine
from xetile.system.tools import find_libomp

FLAGS = machine.flags()


def dot_products() -> dict[str, str]:
    """Dot products of 512 bits, which edges are computed with, in ops that every CPU has: intrinsic -> function."""

    def part(name: str, value: str, number: int, of: int, element: str) -> str:
        places = ", ".join(str(of * lane + number) for lane in range(16))
        vector = f"vector<{16 * of}x{element}>"
        return f"%{name}{number} = llvm.shufflevector %{value}, %{value} [{places}] : {vector}"

    lines = []
    for number in range(4):
        lines += [part("a", "x", number, 4, "i8"), part("b", "y", number, 4, "i8")]
        lines += [
            f"%c{number} = llvm.zext %a{number} : vector<16xi8> to vector<16xi32>",
            f"%d{number} = llvm.sext %b{number} : vector<16xi8> to vector<16xi32>",
            f"%p{number} = llvm.mul %c{number}, %d{number} : vector<16xi32>",
            f"%s{number + 1} = llvm.add %s{number}, %p{number} : vector<16xi32>",
        ]
    body = "\n".join(lines)
    byte_dot = f"""llvm.func @byte_dot(%s0: vector<16xi32>, %x: vector<64xi8>, %y: vector<64xi8>) -> vector<16xi32> {{
    {body}
    llvm.return %s4 : vector<16xi32> }}"""
    lines = [
        f"%{word} = llvm.bitcast %{value} : vector<32xbf16> to vector<32xi16>"
        for word, value in (("v", "x"), ("w", "y"))
    ]
    for number in range(2):
        lines += [part("a", "v", number, 2, "i16"), part("b", "w", number, 2, "i16")]
        for name in "ab":
            lines += [
                f"%{name}w{number} = llvm.zext %{name}{number} : vector<16xi16> to vector<16xi32>",
                f"%{name}s{number} = llvm.shl %{name}w{number}, %shift : vector<16xi32>",
                f"%{name}f{number} = llvm.bitcast %{name}s{number} : vector<16xi32> to vector<16xf32>",
            ]
        lines += [
            f"%p{number} = llvm.fmul %af{number}, %bf{number} : vector<16xf32>",
            f"%s{number + 1} = llvm.fadd %s{number}, %p{number} : vector<16xf32>",
        ]
    body = "\n".join(lines)
    half_dot = f"""llvm.func @half_dot(%s0: vector<16xf32>, %x: vector<32xbf16>, %y: vector<32xbf16>)
        -> vector<16xf32> {{
    %shift = llvm.mlir.constant(dense<16> : vector<16xi32>) : vector<16xi32>
    {body}
    llvm.return %s2 : vector<16xf32> }}"""
    return {"llvm.x86.avx512.vpdpbusd.512": byte_dot, "llvm.x86.avx512bf16.dpbf16ps.512": half_dot}


MODULE = """
module attributes {{dlti.target_system_spec = #machine}} {{
func.func @f(%A: tensor<{m}x{k}x{input}>, %B: tensor<{k}x{n}x{input}>, %C: tensor<{m}x{n}x{sum}>)
    -> tensor<{m}x{n}x{sum}> {{
  %zero = arith.constant {zero} : {sum}
  %filled = linalg.fill ins(%zero : {sum}) outs(%C : tensor<{m}x{n}x{sum}>) -> tensor<{m}x{n}x{sum}>
  %D = linalg.generic {{
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%A, %B : tensor<{m}x{k}x{input}>, tensor<{k}x{n}x{input}>) outs({start} : tensor<{m}x{n}x{sum}>) {{
  ^bb0(%a: {input}, %b: {input}, %c: {sum}):
    %x = {left} %a : {input} to {sum}
    %y = {right} %b : {input} to {sum}
    %p = arith.mul{kind} %x, %y : {sum}
    %s = arith.add{kind} %c, %p : {sum}
    linalg.yield %s : {sum}
  }} -> tensor<{m}x{n}x{sum}>
  return %D : tensor<{m}x{n}x{sum}>
}}
}}
""".replace("#machine", machines.spec(machines.CALIBRATIONS["Xeon"] | {"max_vector_width": 512, "amx": 1}))


class Tiles:
    """Tile instructions on NumPy arrays; registers are numbers, as code hands them on unchanged."""

    def __init__(self) -> None:
        self.registers: dict[int, np.ndarray] = {}
        self.products = 0
        self.has_dot_products = False
        numbers = itertools.count(1)

        def keep(array: np.ndarray) -> int:
            number = next(numbers)
            self.registers[number] = np.ascontiguousarray(array).view(np.uint8)
            return number

        def lines(rows: int, row_bytes: int, address: int, stride: int) -> list[np.ndarray]:
            memory = ctypes.c_uint8 * row_bytes
            return [np.frombuffer(memory.from_address(address + row * stride), np.uint8) for row in range(rows)]

        def zero(rows: int, row_bytes: int) -> int:
            return keep(np.zeros((rows, row_bytes), np.uint8))

        def load(rows: int, row_bytes: int, address: int, stride: int) -> int:
            return keep(np.stack(lines(rows, row_bytes, address, stride)))

        def store(rows: int, row_bytes: int, address: int, stride: int, tile: int) -> None:
            for line, row in zip(lines(rows, row_bytes, address, stride), self.registers[tile], strict=True):
                line[:] = row

        def multiply(left: type, right: type, wide: type, result: type):
            def product(m: int, n: int, k: int, c: int, a: int, b: int) -> int:
                self.products += 1
                x, y = self.registers[a].view(left).astype(wide), self.registers[b].view(right).astype(wide)
                assert self.registers[c].shape == (m, n) and self.registers[a].shape == (m, k)
                group = 4 // np.dtype(left).itemsize
                y = y.reshape(k // 4, n // 4, group).transpose(0, 2, 1).reshape(-1, n // 4)
                return keep((self.registers[c].view(result).astype(wide) + x @ y).astype(result))

            return product

        word, long, pointer = ctypes.c_int16, ctypes.c_int64, ctypes.c_void_p
        three = [word] * 3 + [long] * 3
        functions = {
            "tilezero": (zero, long, [word, word]),
            "tileloadd64": (load, long, [word, word, pointer, long]),
            "tileloaddt164": (load, long, [word, word, pointer, long]),
            "tilestored64": (store, None, [word, word, pointer, long, long]),
            "tdpbf16ps": (multiply(bfloat16, bfloat16, np.float64, np.float32), long, three),
        }
        signs = {"s": np.int8, "u": np.uint8}
        for a, b in itertools.product(signs, signs):
            functions[f"tdpb{a}{b}d"] = (multiply(signs[a], signs[b], np.int64, np.int32), long, three)
        self.callbacks = {
            name: ctypes.CFUNCTYPE(result, *arguments)(function)
            for name, (function, result, arguments) in functions.items()
        }
        words = {word: "i16", long: "i64", pointer: "!llvm.ptr"}
        self.declarations = "\n".join(
            f"llvm.func @{name}({', '.join(words[kind] for kind in arguments)}){' -> i64' if result else ''}"
            for name, (_, result, arguments) in functions.items()
        )

    def run(
        self,
        module: ir.Module,
        *arrays: np.ndarray,
        team: Mapping[str, int] | None = None,
        config: Mapping[str, int] | None = None,
    ) -> np.ndarray:
        """Calls @f of a module with tile instructions replaced by calls; the result is like the last array.

        `team` has the threads of each dimension, as a configuration names them; by default there is one. `config` has
        its other fields.
        """
        threads = math.prod((team or {}).values())
        *_, last = compiler.lower(
            module, target="cpu", threads=threads, config={**(team or {}), **(config or {})} or None
        )
        text = str(last.module)
        assert ("omp.parallel" in text) == (threads > 1)
        text = text.replace("!llvm.x86_amx", "i64")
        for name in self.callbacks:
            text = text.replace(f'llvm.call_intrinsic "llvm.x86.{name}.internal"', f"llvm.call @{name}")
        for name, function in dot_products().items():
            called = re.search(r"@\w+", function)[0]
            self.has_dot_products |= name in text
            text = text.replace(f'llvm.call_intrinsic "{name}"', f"llvm.call {called}")
        assert "llvm.x86." not in text
        end = text.rindex("}")
        with ir.Context():
            functions = "\n".join([self.declarations, *dot_products().values()])
            module = ir.Module.parse(text[:end] + functions + text[end:])
            libraries = [str(find_libomp())] if threads > 1 else []
            engine = ExecutionEngine(module, opt_level=3, shared_libs=libraries)
        for name, callback in self.callbacks.items():
            engine.raw_register_runtime(name, ctypes.cast(callback, ctypes.c_void_p))
        engine.initialize()
        like = arrays[-1]
        result = np.frombuffer(np.random.default_rng().bytes(like.nbytes), like.dtype).reshape(like.shape).copy()
        descriptors = [
            (ctypes.c_int64 * 7)(x.ctypes.data, x.ctypes.data, 0, *x.shape, x.shape[1], 1) for x in (*arrays, result)
        ]
        pointers = [ctypes.c_void_p(ctypes.addressof(descriptor)) for descriptor in descriptors]
        engine.invoke("f", *map(ctypes.byref, pointers))
        return result


SHAPES = [(64, 64, 128), (32, 16, 64), (100, 130, 200), (17, 33, 65), (15, 40, 70), (48, 15, 33), (40, 48, 1)]
# Tiles of fewer rows alone, of all numbers of steps of k; a last block of rows or columns behind whole ones.
SHAPES += [(13, 100, 96), (1, 70, 64), (29, 31, 33), (77, 40, 128), (64, 77, 65)]
# More columns than stay near, and more of k than a block has: several blocks, A packed.
SHAPES += [(40, 1100, 70), (20, 40, 2100)]
# Rows of A that the first-level cache does not hold: k forwards and backwards in turns.
SHAPES += [(40, 100, 1025), (33, 70, 2048)]


@pytest.mark.parametrize("fill", [False, True], ids=["added", "filled"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_bf16(rng, shape, fill, team=None):
    m, n, k = shape
    text = MODULE.format(
        m=m, n=n, k=k, input="bf16", sum="f32", zero="0.0", start="%filled" if fill else "%C", left="arith.extf",
        right="arith.extf", kind="f",
    )  # fmt: skip
    a, b = rng.uniform(-1, 1, (m, k)).astype(bfloat16), rng.uniform(-1, 1, (k, n)).astype(bfloat16)
    c = rng.uniform(-1, 1, (m, n)).astype("f4")
    tiles = Tiles()
    with ir.Context():
        got = tiles.run(ir.Module.parse(text), a, b, c, team=team)
    expected = a.astype("f8") @ b.astype("f8") + (0 if fill else c)
    assert np.abs(got - expected).max() < 1e-5 * max(np.abs(expected).max(), 1)
    expect_tiles_alone(tiles, m, n, -(-k // 32), team)


def expect_tiles_alone(tiles: Tiles, m: int, n: int, steps: int, team: Mapping[str, int] | None) -> None:
    """As few tiles as cover m, n and k, nothing by vectors beside them; thin matrices may have vectors alone, and so
    may a k that fills no tile."""
    if (min(m, n) < 16 and not tiles.products) or steps == 1:
        return
    assert not tiles.has_dot_products
    if team is None:
        assert tiles.products == -(-m // 16) * -(-n // 16) * steps


# Every remainder of 32 of m, n and k, and with these every one of 16, in four parts. m and n have up to a whole block.
REMAINDERS = [(1 + r, 16 + (5 * r + 3) % 32, 64 + (11 * r + 1) % 32) for r in range(32)]


@pytest.mark.parametrize("part", range(4))
def test_bf16_of_every_remainder(rng, part):
    for dim in zip(*REMAINDERS, strict=True):
        assert {size % 32 for size in dim} == set(range(32))
    for shape in REMAINDERS[part::4]:
        test_bf16(rng, shape, fill=bool(rng.integers(2)))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("signs", ["ss", "us", "uu"])
def test_bytes_of_every_remainder(rng, part, signs):
    for shape in REMAINDERS[part::4]:
        test_bytes(rng, shape, signs)


@pytest.mark.parametrize("signs", ["ss", "su", "us", "uu"])
@pytest.mark.parametrize(
    "shape",
    [(64, 64, 128), (50, 70, 150), (33, 17, 67), (40, 1100, 70), (40, 100, 2049)],
    ids=lambda s: "x".join(map(str, s)),
)
def test_bytes(rng, shape, signs, team=None):
    m, n, k = shape
    cast = {"s": "arith.extsi", "u": "arith.extui"}
    text = MODULE.format(
        m=m, n=n, k=k, input="i8", sum="i32", zero="0", start="%C", left=cast[signs[0]], right=cast[signs[1]], kind="i"
    )
    kinds = {"s": np.int8, "u": np.uint8}
    a, b = (
        rng.integers(np.iinfo(kinds[sign]).min, np.iinfo(kinds[sign]).max, size, dtype=kinds[sign], endpoint=True)
        for sign, size in zip(signs, ((m, k), (k, n)), strict=True)
    )
    c = rng.integers(-(2**31), 2**31, (m, n), dtype=np.int32)
    tiles = Tiles()
    with ir.Context():
        got = tiles.run(ir.Module.parse(text), a, b, c, team=team)
    assert (got == (a.astype("i8") @ b.astype("i8") + c).astype(np.int32)).all()
    expect_tiles_alone(tiles, m, n, -(-k // 64), team)


@pytest.mark.parametrize("kind", ["bf16", "ss"])
def test_the_last_steps_of_k_read_no_other_rows(rng, kind):
    """A is read in place for 31 columns; behind each row is the next, with NaN or large numbers in its place."""
    m, n, k = 50, 31, 126 if kind == "bf16" else 252
    floats = kind == "bf16"
    text = MODULE.format(
        m=m, n=n, k=k, input="bf16" if floats else "i8", sum="f32" if floats else "i32", zero="0.0" if floats else "0",
        start="%C", left="arith.extf" if floats else "arith.extsi", right="arith.extf" if floats else "arith.extsi",
        kind="f" if floats else "i",
    )  # fmt: skip
    a = rng.integers(-3, 4, (m, k)).astype(bfloat16 if floats else np.int8)
    b = rng.integers(-3, 4, (k, n)).astype(a.dtype)
    c = rng.integers(-3, 4, (m, n)).astype("f4" if floats else "i4")
    a[1::2, 0] = np.nan if floats else 127
    tiles = Tiles()
    with ir.Context():
        got = tiles.run(ir.Module.parse(text), a, b, c)
    np.testing.assert_array_equal(got, a.astype("f8") @ b.astype("f8") + c)
    assert tiles.products == 4 * 2 * 4 and not tiles.has_dot_products


# Threads of m, n and k: two and three of a dimension, and of several.
TEAMS = [{"MThreads": 2}, {"NThreads": 3}, {"KThreads": 2}, {"MThreads": 2, "NThreads": 2}]


@pytest.mark.parametrize("team", TEAMS, ids=lambda team: "x".join(f"{name[0]}{count}" for name, count in team.items()))
@pytest.mark.parametrize("kind", ["bf16", "ss", "us"])
def test_a_team_multiplies_tiles(rng, team, kind):
    shape = (97, 101, 131)
    if kind == "bf16":
        test_bf16(rng, shape, fill=bool(rng.integers(2)), team=team)
    else:
        test_bytes(rng, shape, kind, team=team)


FORM = """
module attributes {{dlti.target_system_spec = #machine}} {{
func.func @f(%A: tensor<{a}xbf16>, %B: tensor<{b}xbf16>, %C: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %weights = arith.constant dense<"0x{weights}"> : tensor<{b}xbf16>
  %filled = linalg.fill ins(%zero : f32) outs(%C : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %D = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> ({left})>, affine_map<(m, n, k) -> ({right})>,
                                      affine_map<(m, n, k) -> (m, n)>]
      ins(%A, {factor} : tensor<{a}xbf16>, tensor<{b}xbf16>) outs(%filled : tensor<{m}x{n}xf32>)
      -> tensor<{m}x{n}xf32>
  %R = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                        iterator_types = ["parallel", "parallel"]}}
      ins(%D : tensor<{m}x{n}xf32>) outs(%C : tensor<{m}x{n}xf32>) {{
  ^bb0(%x: f32, %c: f32):
    %positive = arith.maximumf %x, %zero : f32
    %sum = arith.addf %positive, %c : f32
    linalg.yield %sum : f32
  }} -> tensor<{m}x{n}xf32>
  return %R : tensor<{m}x{n}xf32>
}}
}}
""".replace("#machine", machines.spec(machines.CALIBRATIONS["Xeon"] | {"max_vector_width": 512, "amx": 1}))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("team", [None, {"NThreads": 2}, {"KThreads": 2}], ids=["1", "N2", "K2"])
@pytest.mark.parametrize("form", ["plain", "constant", "turned A", "turned B", "turned constant"])
@pytest.mark.parametrize("shape", [(77, 70, 1030), (29, 100, 65), (45, 530, 96)], ids=lambda s: "x".join(map(str, s)))
def test_operands_of_any_form_with_a_consumer(rng, shape, form, team, config=None):
    """Copies of columns, of constants of which blocks are slices; what follows a matmul in its loops."""
    m, n, k = shape
    a = rng.uniform(-1, 1, (k, m) if form == "turned A" else (m, k)).astype(bfloat16)
    turned = form in ("turned B", "turned constant")
    b = rng.uniform(-1, 1, (n, k) if turned else (k, n)).astype(bfloat16)
    c = rng.uniform(-1, 1, (m, n)).astype("f4")
    constant = form.endswith("constant")
    text = FORM.format(
        m=m, n=n, a="x".join(map(str, a.shape)), b="x".join(map(str, b.shape)), weights=b.tobytes().hex(),
        left="k, m" if form == "turned A" else "m, k", right="n, k" if turned else "k, n",
        factor="%weights" if constant else "%B",
    )  # fmt: skip
    tiles = Tiles()
    # What the constant is not is not read.
    given = np.full_like(b, np.nan) if constant else b
    with ir.Context():
        got = tiles.run(ir.Module.parse(text), a, given, c, team=team, config=config)
    wide_a, wide_b = a.astype("f8"), b.astype("f8")
    product = (wide_a.T if form == "turned A" else wide_a) @ (wide_b.T if turned else wide_b)
    expected = np.maximum(product, 0) + c
    assert np.abs(got - expected).max() < 1e-5 * np.abs(expected).max()
    if not config:
        expect_tiles_alone(tiles, m, n, -(-k // 32), team)


@pytest.mark.parametrize("form", ["plain", "constant", "turned constant"])
def test_blocks_of_k_may_begin_within_a_tile(rng, form):
    """Nothing is filled up then: the next block of a constant is where that of a tile would go on."""
    for config in ({"KBlock": 16, "innermostKBlock": 8}, {"KBlock": 48, "innermostKBlock": 16}):
        test_operands_of_any_form_with_a_consumer(rng, (48, 64, 96), form, None, config)


def configuration(m: int, n: int, k: int) -> dict[str, int]:
    text = MODULE.format(
        m=m, n=n, k=k, input="bf16", sum="f32", zero="0.0", start="%C", left="arith.extf", right="arith.extf", kind="f"
    )
    with ir.Context():
        first, *terms = cpu.explain(ir.Module.parse(text), threads=1).splitlines()
    assert any("pack A: yes" in term for term in terms) == (n > 512)
    return json.loads(first[first.index("{") :])


def test_blocks_are_those_that_were_measured_to_be_fast():
    # By the prototype on an Emerald Rapids: 1196 and 1089 instead of 859 and 544 GFLOP/s.
    one, two = configuration(1024, 1024, 1024), configuration(2048, 2048, 2048)
    for config, rows in ((one, 1024), (two, 2048)):
        assert (config["MBlock"], config["NBlock"], config["KBlock"]) == (rows, 512, 1024)
    assert (one["loopOrder"], two["loopOrder"]) == (0, 4)
    assert configuration(1024, 512, 1024)["NBlock"] == 512
    # All of m, whatever is left of it: B is packed once. All of k where the part of B fits half of L2.
    assert configuration(77, 1024, 1280)["MBlock"] == 96
    # Few rows: what is packed of B is read again while it is near, in blocks of one size.
    assert (configuration(77, 1024, 1280)["NBlock"], configuration(24, 1024, 2048)["NBlock"]) == (128, 128)
    assert configuration(2048, 320, 1280)["KBlock"] == 1280
    assert configuration(1536, 1536, 1536)["KBlock"] == 1024


def test_rows_that_split_lines_are_packed_where_they_are_read_again():
    text = {}
    for m, n, k in ((416, 64, 464), (2080, 16, 464), (416, 64, 480)):
        module = MODULE.format(
            m=m, n=n, k=k, input="bf16", sum="f32", zero="0.0", start="%C", left="arith.extf", right="arith.extf",
            kind="f",
        )  # fmt: skip
        with ir.Context():
            text[m, n, k] = cpu.explain(ir.Module.parse(module), threads=1)
    assert "pack A: yes (its rows of 928 bytes begin within lines of the cache)" in text[416, 64, 464]
    assert "pack A: no" in text[2080, 16, 464] and "pack A: no" in text[416, 64, 480]


def test_saved_code_asks_for_tiles():
    text = MODULE.format(
        m=64, n=64, k=64, input="bf16", sum="f32", zero="0.0", start="%C", left="arith.extf", right="arith.extf",
        kind="f",
    )  # fmt: skip
    with ir.Context():
        *_, last = compiler.lower(ir.Module.parse(text), target="cpu", threads=1)
        assert "ctors = [@xetile_request_tile_registers]" in str(last.module)


@pytest.mark.skipif(
    "amx_bf16" in FLAGS, reason="this CPU has AMX (amx_bf16 in /proc/cpuinfo): there is nothing to refuse"
)
def test_a_module_for_a_cpu_with_tiles_is_refused_where_there_are_none():
    text = MODULE.format(
        m=64, n=64, k=64, input="bf16", sum="f32", zero="0.0", start="%C", left="arith.extf", right="arith.extf",
        kind="f",
    )  # fmt: skip
    told = (
        r"cannot compile the code of @f for this CPU:\n  -:\d+:8: error: llvm\.x86\.tile\w+\.internal is an "
        r'instruction of amx-tile, which this CPU does not have; a DLTI entry "CPU" of the module'
    )
    with ir.Context(), pytest.raises(XeTileError, match=told):
        cpu.compile(ir.Module.parse(text), threads=1)
