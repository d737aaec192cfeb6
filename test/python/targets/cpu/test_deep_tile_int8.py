# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dot products of bytes and of bf16: signs, layouts, machines, and the machine code of the inner loop."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import machines
import numpy as np
import pytest
from xetile import XeTileError, cpu
from xetile.compiling import compiler
from xetile.mlir import ir
from xetile.system import machine as this_machine

FLAGS = this_machine.flags()
needs_vnni = pytest.mark.skipif("avx512_vnni" not in FLAGS, reason="needs AVX-512 VNNI (flags in /proc/cpuinfo)")
needs_bf16 = pytest.mark.skipif("avx512_bf16" not in FLAGS, reason="needs AVX-512 BF16 (flags in /proc/cpuinfo)")
needs_avx512 = pytest.mark.skipif("avx512f" not in FLAGS, reason="needs AVX-512 (flags in /proc/cpuinfo)")
needs_avx2 = pytest.mark.skipif("avx2" not in FLAGS, reason="needs AVX2 (flags in /proc/cpuinfo)")

BYTE_DOT = "llvm.x86.avx512.vpdpbusd.512"
HALF_DOT = "llvm.x86.avx512bf16.dpbf16ps.512"
SIGNS = ("us", "ss", "uu", "su")
BYTES = {"s": np.int8, "u": np.uint8}
# A, B, C and, for each dimension of A and B, what indexes it: lower case inside of upper case.
LAYOUTS = {
    "plain": ("mk", "kn", "mn"),
    "transposed B": ("mk", "nk", "mn"),
    "transposed A": ("km", "kn", "mn"),
    "transposed C": ("mk", "kn", "nm"),
    "groups in all": ("MKmkp", "NKknp", "MNmn"),
    "groups in B": (["M", "K", "m", "kp"], "NKknp", "MNmn"),
    "groups in B, A plain": (["m", "Kkp"], "NKknp", "mNn"),
}


def module(layout, sizes, types, *, signs="ss", fill=False, machine=None) -> ir.Module:
    """A matmul whose inputs may be indexed by sums: "kp" is k * (size of p) + p.

    For a machine without tiles, also where this one has them: `machine` has other DLTI entries of the CPU.
    """
    dims = [d for d in "MNmnKkp" if any(d in "".join(operand) for operand in layout)]

    def shape(operand: int) -> list[int]:
        return [int(np.prod([sizes[d] for d in place])) for place in layout[operand]]

    def tensor(operand: int) -> str:
        return "tensor<" + "x".join([*map(str, shape(operand)), types[operand]]) + ">"

    def index(place: str) -> str:
        factors = [int(np.prod([sizes[d] for d in place[i + 1 :]])) for i in range(len(place))]
        return " + ".join(f"{d}_ * {factor}" for d, factor in zip(place, factors, strict=True))

    maps = ", ".join(
        f"affine_map<({', '.join(d + '_' for d in dims)}) -> ({', '.join(map(index, operand))})>" for operand in layout
    )
    kinds = ", ".join('"reduction"' if d in "Kkp" else '"parallel"' for d in dims)
    a, b, c = map(tensor, range(3))
    floats = types[2] == "f32"
    casts = ["arith.extf"] * 2 if floats else [{"s": "arith.extsi", "u": "arith.extui"}[sign] for sign in signs]
    lines = []
    for value, cast, kind in zip("xy", casts, types, strict=False):
        lines.append(f"%{value}w = {cast} %{value} : {kind} to {types[2]}" if kind != types[2] else "")
    x, y = (f"%{value}w" if kind != types[2] else f"%{value}" for value, kind in zip("xy", types, strict=False))
    kind = "f" if floats else "i"
    dots = {"bf16_dot": 1} if "avx512_bf16" in FLAGS and "max_vector_width" not in (machine or {}) else {}
    spec = machines.spec({"amx": 0} | dots | (machine or {}))
    text = f"""
module attributes {{dlti.target_system_spec = {spec}}} {{
func.func @f(%A: {a}, %B: {b}, %C: {c}) -> {c} {{
  %zero = arith.constant {"0.0" if floats else "0"} : {types[2]}
  %filled = linalg.fill ins(%zero : {types[2]}) outs(%C : {c}) -> {c}
  %D = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%A, %B : {a}, {b}) outs({"%filled" if fill else "%C"} : {c}) {{
  ^bb0(%x: {types[0]}, %y: {types[1]}, %z: {types[2]}):
    {lines[0]}
    {lines[1]}
    %p = arith.mul{kind} {x}, {y} : {types[2]}
    %s = arith.add{kind} %z, %p : {types[2]}
    linalg.yield %s : {types[2]}
  }} -> {c}
  return %D : {c}
}}
}}"""
    with ir.Context():
        return ir.Module.parse(text)


def extremes(rng, shape, dtype) -> np.ndarray:
    """Bytes, many of them the least, the greatest and those around 0 and 128."""
    info = np.iinfo(dtype)
    special = np.array([info.min, info.max, 0, 1, info.max // 2, info.max // 2 + 1]).astype(dtype)
    values = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return np.where(rng.random(shape) < 0.5, rng.choice(special, shape), values)


def product(layout, sizes, arrays) -> np.ndarray:
    """What the contraction adds to C, in int64 or float64."""
    a, b = (
        array.astype("i8" if array.dtype.itemsize == 1 else "f8").reshape([sizes[d] for d in "".join(operand)])
        for operand, array in zip(layout[:2], arrays[:2], strict=True)
    )
    return np.einsum(f"{''.join(layout[0])},{''.join(layout[1])}->{''.join(layout[2])}", a, b, optimize=True)


def check(rng, layout, sizes, types, *, signs="ss", fill=False, machine=None, **options) -> cpu.Kernel:
    kernel = cpu.compile(module(layout, sizes, types, signs=signs, fill=fill, machine=machine), **options)
    arrays = []
    for number, spec in enumerate(kernel.arguments):
        if spec.dtype == "i8":
            arrays.append(extremes(rng, spec.shape, BYTES[signs[number]]))
        elif spec.dtype == "i32":
            arrays.append(rng.integers(-(2**31), 2**31, spec.shape, dtype=np.int32))
        else:
            arrays.append(rng.uniform(-1, 1, spec.shape).astype(spec.numpy_dtype))
    out = np.frombuffer(rng.bytes(arrays[2].nbytes), arrays[2].dtype).reshape(arrays[2].shape).copy()
    kernel(*arrays, out=out)
    expected = product(layout, sizes, arrays) + (0 if fill else arrays[2])
    if types[2] == "i32":
        assert (out == expected.astype(np.int32)).all(), "i32 sums wrap around"
    else:
        assert np.abs(out - expected).max() < 1e-5 * max(np.abs(expected).max(), 1)
    return kernel


def dims(m: int, n: int, k: int, layout=LAYOUTS["plain"], group: int = 4) -> dict[str, int]:
    if "p" not in "".join(layout[1]):
        return {"m": m, "n": n, "k": k}
    sizes = {"M": -(-m // 12), "m": 12, "N": -(-n // 32), "n": 32, "K": -(-k // (8 * group)), "k": 8, "p": group}
    return sizes if "M" in layout[0] else {**sizes, "m": m}


@needs_vnni
@pytest.mark.parametrize("fill", [False, True], ids=["added", "filled"])
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("shape", [(64, 64, 64), (13, 17, 19), (1, 1, 1), (100, 200, 301)], ids=str)
def test_signs_and_odd_sizes(rng, shape, signs, fill):
    kernel = check(rng, LAYOUTS["plain"], dims(*shape), ("i8", "i8", "i32"), signs=signs, fill=fill, threads=2)
    # A single product needs none.
    assert BYTE_DOT in kernel.stages["3-llvm"] or shape == (1, 1, 1)
    assert "vpdpbusds" not in kernel.stages["3-llvm"]


@pytest.mark.parametrize("fill", [False, True], ids=["added", "filled"])
@pytest.mark.parametrize("types", [("bf16", "bf16", "f32"), ("i8", "i8", "i32")], ids=lambda types: types[0])
@pytest.mark.parametrize("shape", [(64, 64, 128), (100, 200, 300), (33, 40, 67), (5, 70, 3)], ids=str)
def test_transposed_a_is_packed_in_groups(rng, shape, types, fill):
    signs = SIGNS[int(rng.integers(4))]
    kernel = check(rng, LAYOUTS["transposed A"], dims(*shape), types, signs=signs, fill=fill, threads=2, pack="always")
    code = kernel.stages["3-llvm"]
    flag, dot = ("avx512_bf16", HALF_DOT) if types[0] == "bf16" else ("avx512_vnni", BYTE_DOT)
    assert dot in code or flag not in FLAGS


@pytest.mark.parametrize("values", [(-128, -128), (-128, 127), (127, 127), (255, 255), (255, -128), (0, 255)], ids=str)
def test_extreme_values_do_not_saturate(values):
    signs = "".join("u" if value > 127 or value == 0 else "s" for value in values)
    m, n, k = 19, 35, 4099
    kernel = cpu.compile(module(LAYOUTS["plain"], dims(m, n, k), ("i8", "i8", "i32"), signs=signs), threads=1)
    a, b = (np.full(size, v, BYTES[s]) for size, v, s in zip(((m, k), (k, n)), values, signs, strict=True))
    c = np.full((m, n), 2**31 - 1 if values[0] * values[1] > 0 else -(2**31), np.int32)
    expected = (np.full((m, n), values[0] * values[1] * k) + c.astype("i8")).astype(np.int32)
    assert (kernel(a, b, c) == expected).all()


@needs_vnni
@pytest.mark.parametrize("number", range(24))
def test_random_bytes(rng, number):
    name = list(LAYOUTS)[int(rng.integers(len(LAYOUTS)))]
    layout, signs = LAYOUTS[name], SIGNS[int(rng.integers(4))]
    sizes = dims(*(int(x) for x in rng.integers(1, 180, 3)), layout)
    config = {"loopOrder": int(rng.integers(6))}
    if "p" not in sizes:
        for dim in "MNK":
            config[f"innermost{dim}Block"] = int(rng.choice([1, 6, 16, 32, 48]))
            config[f"{dim}Block"] = config[f"innermost{dim}Block"] * int(rng.integers(1, 5))
            limit = 64 * -(-sizes[dim.lower()] // 64)
            if config[f"innermost{dim}Block"] > limit:
                config = {"loopOrder": 0}
                break
    threads = {f"{dim}Threads": 1 for dim in "MNK"}
    dim = "MNK"[int(rng.integers(3))]
    extent = sizes[dim.lower()] if "p" not in sizes else sizes.get(dim, 1) * 64
    if extent > 2 * config.get(f"innermost{dim}Block", 200):
        threads[f"{dim}Threads"] = 2
    pack = str(rng.choice(["auto", "always", "never"]))
    print(name, signs, sizes, config, threads, pack)
    types = ("i8", "i8", "i32")
    fill = bool(rng.integers(2))
    check(rng, layout, sizes, types, signs=signs, fill=fill, config={**config, **threads}, threads=2, pack=pack)


@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("k_threads", [1, 2, 3])
def test_threads_of_k_wrap_around_together(rng, signs, k_threads):
    config = {"KThreads": k_threads, "MThreads": 1, "NThreads": 1, "KBlock": 32, "innermostKBlock": 8}
    check(rng, LAYOUTS["plain"], dims(30, 70, 333), ("i8", "i8", "i32"), signs=signs, config=config, threads=3)


@pytest.mark.parametrize("name", [name for name in LAYOUTS if "groups" in name])
@pytest.mark.parametrize("signs", SIGNS)
def test_packed_bytes_are_multiplied_as_they_lie(rng, name, signs):
    layout = LAYOUTS[name]
    kernel = check(rng, layout, dims(50, 70, 100, layout), ("i8", "i8", "i32"), signs=signs, threads=2)
    assert "linalg.generic" not in kernel.stages["0-linalg"].split("linalg.generic", 2)[2:]
    assert "transfer_write" not in kernel.stages["1-tiled"], "B must not be packed again"
    if "avx512_vnni" in FLAGS:
        assert BYTE_DOT in kernel.stages["3-llvm"]


@pytest.mark.parametrize("name", [name for name in LAYOUTS if "groups" in name])
def test_packed_bf16_is_multiplied_as_it_lies(rng, name):
    layout = LAYOUTS[name]
    kernel = check(rng, layout, dims(50, 70, 100, layout, 2), ("bf16", "bf16", "f32"), threads=2)
    assert "transfer_write" not in kernel.stages["1-tiled"], "B must not be packed again"
    if "avx512_bf16" in FLAGS:
        assert HALF_DOT in kernel.stages["3-llvm"]


# Machines that this one can stand in for.
MACHINES = {
    "AVX2": {"max_vector_width": 256, "int8_dot": 0, "bf16_dot": 0},
    "SSE": {"max_vector_width": 128, "int8_dot": 0, "bf16_dot": 0},
    "AVX-512": {"max_vector_width": 512, "int8_dot": 0, "bf16_dot": 0},
    "AVX-VNNI": {"max_vector_width": 256, "int8_dot": 1, "bf16_dot": 0},
}
RUNNABLE = [
    pytest.param("AVX2", marks=needs_avx2),
    "SSE",
    pytest.param("AVX-512", marks=needs_avx512),
    pytest.param("AVX-VNNI", marks=needs_vnni),
]
TYPES = [("f32", "f32", "f32"), ("bf16", "bf16", "f32"), ("i8", "i8", "i32")]


@pytest.mark.parametrize("machine", RUNNABLE)
@pytest.mark.parametrize("types", TYPES, ids=lambda types: types[0])
@pytest.mark.parametrize("name", ["plain", "transposed B", "groups in all"])
def test_other_machines(rng, machine, types, name):
    layout = LAYOUTS[name]
    sizes = dims(37, 75, 53, layout, {"bf16": 2}.get(types[0], 4))
    signs = SIGNS[int(rng.integers(4))]
    kernel = check(rng, layout, sizes, types, signs=signs, machine=MACHINES[machine], threads=2)
    code = kernel.stages["3-llvm"]
    width = MACHINES[machine]["max_vector_width"]
    assert f"vector<{width // 32}x{types[2]}>" in code
    if types[0] != "f32" or "groups" not in name:  # groups of f32 are taken apart in one longer vector
        assert not re.search(rf"vector<{width // 16}x{types[2]}>", code), "a vector is wider than the machine's"
    dots = {"llvm.x86.avx512.vpdpbusd.256"} if machine == "AVX-VNNI" and types[0] == "i8" else set()
    assert set(re.findall(r"llvm\.x86\.[\w.]*dp[\w.]*", code)) == dots


@pytest.mark.parametrize("key", ["int8_dot", "bf16_dot", "amx"])
def test_machine_features_are_0_or_1(key):
    with pytest.raises(XeTileError, match=f'"CPU", "{key}": expected 0 or 1, got 2'):
        cpu.compile(module(LAYOUTS["plain"], dims(8, 8, 8), TYPES[2], machine={key: 2}))


def test_explain_names_the_instruction():
    said = {}
    for name in ("AVX2", "AVX-VNNI"):
        text = cpu.explain(module(LAYOUTS["plain"], dims(64, 64, 64), TYPES[2], machine=MACHINES[name]))
        said[name] = text
    assert "4 products" in said["AVX-VNNI"] and "offset by 128" in said["AVX-VNNI"]
    assert "4 products" not in said["AVX2"]


def test_explain_changes_nothing():
    layout = LAYOUTS["groups in B"]
    payload = module(layout, dims(24, 32, 64, layout), TYPES[2])
    before = str(payload)
    assert "innermost" in cpu.explain(payload)
    assert str(payload) == before


@pytest.mark.parametrize(
    "body",
    [
        "%n = arith.negf %x : f32\n %p = arith.mulf %n, %y : f32\n %s = arith.addf %z, %p : f32",
        "%p = arith.mulf %x, %y : f32\n %n = math.exp %p : f32\n %s = arith.addf %z, %n : f32",
    ],
    ids=["negated", "of exponents"],
)
def test_other_bodies_are_no_matmuls(rng, body):
    text = str(module(LAYOUTS["plain"], dims(8, 9, 10), TYPES[0]))
    block = re.search(r"\^bb0\(%(\w+): f32, %(\w+): f32, %(\w+): f32\):\n(.*?)linalg.yield %(\w+)", text, re.S)
    names = dict(zip("xyz", block.groups()[:3], strict=True))
    for short, name in names.items():
        body = re.sub(rf"%{short}\b", f"%{name}", body)
    start, end = block.span(4)
    text = text[:start] + body + "\n" + text[end:].replace(f"linalg.yield %{block[5]}", "linalg.yield %s", 1)
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(text), threads=1)
    a, b, c = (rng.uniform(-1, 1, spec.shape).astype("f4") for spec in kernel.arguments)
    expected = c - a @ b if "negf" in body else c + np.exp(a[:, :, None] * b[None]).sum(1)
    assert np.allclose(kernel(a, b, c), expected, atol=1e-4)


def inner_loop(kernel: cpu.Kernel, tmp_path: Path, instruction: str) -> list[str]:
    """The instructions of the longest innermost loop around `instruction`."""
    kernel.write_shared_object(tmp_path / "kernel.so")
    tool = next(filter(None, map(shutil.which, ("llvm-objdump-22", "llvm-objdump", "objdump"))), None)
    assert tool, "objdump is missing: Debian's binutils or llvm-22 have one"
    command = [tool, "-d", "--no-show-raw-insn", str(tmp_path / "kernel.so")]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [(int(m[1], 16), m[2].strip()) for m in re.finditer(r"^\s*([0-9a-f]+):\s+(.*)$", listing, re.M)]
    number = {address: i for i, (address, _) in enumerate(lines)}
    loops = []
    for i, (_, text) in enumerate(lines):
        jump = re.match(r"j\w+\s+(?:0x)?([0-9a-f]+)", text)
        first = number.get(int(jump[1], 16), i) if jump else i
        body = [line for _, line in lines[first : i + 1]]
        if first < i and any(instruction in line for line in body):
            loops.append(body)
    # Innermost: no other loop inside, that is the fewest instructions for each dot product.
    shortest = [body for body in loops if sum(line.startswith("j") for line in body) == 1]
    assert shortest, f"no loop around {instruction}"
    return max(shortest, key=len)


@pytest.mark.parametrize(
    ("types", "instruction"),
    [
        pytest.param(TYPES[0], "vfmadd", marks=needs_avx512),
        pytest.param(TYPES[1], "vdpbf16ps", marks=needs_bf16),
        pytest.param(TYPES[2], "vpdpbusd", marks=needs_vnni),
    ],
    ids=["f32", "bf16", "i8"],
)
def test_inner_loop_is_dot_products_and_loads(tmp_path, types, instruction):
    """Nothing is spilled, and there are at most half as many loads as products: two start in a cycle."""
    kernel = cpu.compile(module(LAYOUTS["plain"], dims(512, 512, 512), types, fill=True), threads=1)
    body = [line.partition("#")[0] for line in inner_loop(kernel, tmp_path, instruction)]
    products = [line for line in body if line.startswith(instruction)]
    memory = [line for line in body if "(" in line]
    assert len(products) >= 20
    assert not [line for line in memory if "(%rsp" in line], "spilled"
    assert len(memory) <= len(products) / 2
    others = [line for line in body if line not in products and line not in memory]
    assert len(others) <= 6, others


@pytest.mark.parametrize("cpu_name", ["icelake-server", "rocketlake", "sapphirerapids"])
@pytest.mark.parametrize("size", [2, 3])
def test_so_few_signed_bytes_that_all_are_in_registers_are_compiled(tmp_path, size, cpu_name):
    """LLVM's selection never ended where it flipped the signs of A's bytes before it put them into all lanes."""
    tools = {name: shutil.which(f"{name}-22") for name in ("mlir-translate", "opt", "llc")}
    assert all(tools.values()), f"scripts/bootstrap installs them: {tools}"
    spec = machines.spec({"max_vector_width": 512, "int8_dot": 1, "bf16_dot": 1, "amx": 1})
    a, c = f"tensor<1x{size}x{size}xi8>", f"tensor<1x{size}x{size}xi32>"
    maps = "(b, m, n, k) -> (b, k, m)", "(b, m, n, k) -> (b, k, n)", "(b, m, n, k) -> (b, m, n)"
    text = f"""module attributes {{dlti.target_system_spec = {spec}}} {{
func.func @f(%a: {a}) -> {c} {{
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : {c}
  %filled = linalg.fill ins(%zero : i32) outs(%empty : {c}) -> {c}
  %d = linalg.batch_matmul indexing_maps = [{", ".join(f"affine_map<{each}>" for each in maps)}]
      ins(%a, %a : {a}, {a}) outs(%filled : {c}) -> {c}
  return %d : {c}
}} }}"""
    with ir.Context():
        *_, last = compiler.lower(ir.Module.parse(text), target="cpu", threads=1)
        lowered = str(last.module)
    assert lowered.count("vpdpbusd.512") > size
    machine = ["-mtriple=x86_64-linux-gnu", f"-mcpu={cpu_name}"]
    for name, flags in (("mlir-translate", ["--mlir-to-llvmir"]), ("opt", ["-passes=default<O3>", *machine, "-S"])):
        run = subprocess.run(
            [tools[name], *flags], input=lowered, text=True, capture_output=True, timeout=60, check=True
        )
        lowered = run.stdout
    # A fraction of a second; without an end otherwise.
    run = subprocess.run([tools["llc"], "-O3", *machine], input=lowered, text=True, capture_output=True, timeout=60)
    assert run.returncode == 0 and "vpdpbusd" in run.stdout, run.stderr
