# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a folder with kernels for a Hopper GPU, the runtime library and `on_device.py`, which needs no compiler.

.venv/bin/python test/device/prepare.py FOLDER [--only numbers|speed]
python3 FOLDER/on_device.py                        # on the machine with the GPU: PyTorch is all that it needs
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import xetile
from xetile.kernels import cuda

HERE = Path(__file__).parent
TARGET = "sm_90a"


@dataclass(frozen=True)
class Case:
    """A product, what follows on it, and how it is compiled. `kind` is "numbers" or "speed"."""

    kind: str
    m: int
    n: int
    k: int
    input: str = "bf16"
    output: str = "bf16"
    transposed: str = ""  # "a", "b", "ab": stored so
    after: str = ""  # "bias_relu", "bias_gelu", "residual", "accumulate"
    params: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        parts = [f"{self.m}x{self.n}x{self.k}", self.input, self.output]
        parts += [f"t{self.transposed}"] if self.transposed else []
        parts += [self.after] if self.after else []
        parts += [f"{key}{value}" for key, value in (self.params | self.options).items()]
        return "_".join(parts)


def tensor(rows: int, columns: int, element: str) -> str:
    return f"tensor<{rows}x{columns}x{element}>"


def payload(case: Case) -> str:
    """A function on tensors: A, B, then what follows needs."""
    m, n, k = case.m, case.n, case.k
    a_type = tensor(k, m, case.input) if "a" in case.transposed else tensor(m, k, case.input)
    b_type = tensor(n, k, case.input) if "b" in case.transposed else tensor(k, n, case.input)
    sums, result = tensor(m, n, "f32"), tensor(m, n, case.output)
    arguments = [f"%A: {a_type}", f"%B: {b_type}"]
    extra, names, maps = {
        "": ([], [], []),
        "bias_relu": ([f"%bias: tensor<{n}xf32>"], [f"%bias : tensor<{n}xf32>"], ["(d1)"]),
        "bias_gelu": ([f"%bias: tensor<{n}xf32>"], [f"%bias : tensor<{n}xf32>"], ["(d1)"]),
        "residual": (
            [f"%bias: tensor<{n}xf32>", f"%R: {result}"],
            [f"%bias : tensor<{n}xf32>", f"%R : {result}"],
            ["(d1)", "(d0, d1)"],
        ),
        "accumulate": ([f"%C: {sums}"], [], []),
    }[case.after]
    arguments += extra
    a_map = "(m, n, k) -> (k, m)" if "a" in case.transposed else "(m, n, k) -> (m, k)"
    b_map = "(m, n, k) -> (n, k)" if "b" in case.transposed else "(m, n, k) -> (k, n)"
    indexing = ", ".join(f"affine_map<{text}>" for text in (a_map, b_map, "(m, n, k) -> (m, n)"))
    lines = ["%zero = arith.constant 0.0 : f32", f"%empty = tensor.empty() : {sums}"]
    first = "%C" if case.after == "accumulate" else "%filled"
    if first == "%filled":
        lines.append(f"%filled = linalg.fill ins(%zero : f32) outs(%empty : {sums}) -> {sums}")
    lines.append(
        f"%D = linalg.matmul indexing_maps = [{indexing}] ins(%A, %B : {a_type}, {b_type}) outs({first} : {sums}) "
        f"-> {sums}"
    )
    last = "%D"
    body = list(_after(case))
    if body:
        every = [*(f"affine_map<(d0, d1) -> {text}>" for text in ("(d0, d1)", *maps, "(d0, d1)"))]
        inputs = ["%D", *(name.split(" : ")[0] for name in names)]
        types = [sums, *(name.split(" : ")[1] for name in names)]
        elements = ["%x: f32", *(["%b: f32"] if "bias" in str(names) else [])]
        elements += [f"%r: {case.output}"] if "%R" in inputs else []
        lines += [
            f"%out = tensor.empty() : {result}",
            f"%E = linalg.generic {{indexing_maps = [{', '.join(every)}], iterator_types = "
            f'["parallel", "parallel"]}} ins({", ".join(inputs)} : {", ".join(types)}) outs(%out : {result}) {{',
            f"^bb0({', '.join(elements)}, %o: {case.output}):",
            *body,
            f"}} -> {result}",
        ]
        last = "%E"
    lines.append(f"return {last} : {result}")
    inside = "\n  ".join(lines)
    return f"func.func @kernel({', '.join(arguments)}) -> {result} {{\n  {inside}\n}}\n"


def _after(case: Case) -> Iterator[str]:
    value = "%x"
    if case.after in ("bias_relu", "bias_gelu", "residual"):
        yield "%s = arith.addf %x, %b : f32"
        value = "%s"
    if case.after == "bias_relu":
        yield "%relu = arith.maximumf %s, %zero : f32"
        value = "%relu"
    if case.after in ("bias_gelu", "residual"):
        yield "%half = arith.constant 0.5 : f32"
        yield "%one = arith.constant 1.0 : f32"
        yield "%root = arith.constant 0.707106769 : f32"
        yield "%scaled = arith.mulf %s, %root : f32"
        yield "%erf = math.erf %scaled : f32"
        yield "%more = arith.addf %erf, %one : f32"
        yield "%product = arith.mulf %s, %more : f32"
        yield "%gelu = arith.mulf %product, %half : f32"
        value = "%gelu"
    if case.after == "residual":
        if case.output == "f32":
            yield f"%total = arith.addf {value}, %r : f32"
        else:
            yield f"%wide = arith.extf %r : {case.output} to f32"
            yield f"%total = arith.addf {value}, %wide : f32"
        value = "%total"
    if case.output != "f32":
        yield f"%narrow = arith.truncf {value} : f32 to {case.output}"
        yield f"linalg.yield %narrow : {case.output}"
    elif value != "%x":
        yield f"linalg.yield {value} : f32"


def numbers() -> Iterator[Case]:
    """Small products: every type, order and epilogue, edges, tiles."""
    for output in ("f32", "bf16", "f16"):
        for kind in ("bf16", "f16"):
            yield Case("numbers", 777, 504, 1000, kind, output)
    for transposed in ("a", "b", "ab"):
        yield Case("numbers", 776, 504, 1000, "bf16", "f32", transposed)
        yield Case("numbers", 40, 1032, 264, "f16", "f16", transposed)
    for after in ("bias_relu", "bias_gelu", "residual"):
        for output in ("f32", "bf16", "f16"):
            yield Case("numbers", 333, 520, 776, "bf16", output, after=after)
    yield Case("numbers", 333, 520, 776, "f16", "f32", after="accumulate")
    yield Case("numbers", 1, 8, 8)
    yield Case("numbers", 1, 8, 4096, "bf16", "f32")
    yield Case("numbers", 3, 264, 72)
    yield Case("numbers", 129, 264, 64, "f16", "f32")
    tiles = [(64, 64, 1), (64, 128, 1), (64, 256, 1), (128, 64, 2), (128, 128, 1), (128, 128, 2), (128, 192, 2)]
    tiles += [(128, 256, 2), (256, 128, 2), (256, 64, 4), (256, 128, 4)]
    for m, n, count in tiles:
        params = {"workgroup_m": m, "workgroup_n": n, "subgroups_m": count, "prefetch": 2}
        yield Case("numbers", 515, 776, 840, "bf16", "f32", "b", params=params)
        yield Case("numbers", 515, 776, 840, "bf16", "bf16", "", params=params)
    yield Case("numbers", 520, 776, 840, "bf16", "f32", "a", params={"workgroup_m": 256, "workgroup_n": 128})
    for k, ahead in ((128, 1), (128, 2), (192, 1), (64, 1), (64, 7)):
        params = {"workgroup_m": 64, "workgroup_n": 64, "k_step": k, "prefetch": ahead}
        yield Case("numbers", 515, 776, 1192, "bf16", "f32", params=params)
        yield Case("numbers", 520, 776, 1192, "bf16", "f32", "ab", params=params)
    for rows in (1, 3):
        yield Case("numbers", 1500, 1544, 256, options={"group_rows": rows})


def speed() -> Iterator[Case]:
    """Products that are timed beside cuBLAS."""
    for size in (1024, 2048, 4096, 8192):
        yield Case("speed", size, size, size)
        yield Case("speed", size, size, size, "bf16", "f32")
        yield Case("speed", size, size, size, "f16", "f16")
    yield Case("speed", 4096, 4096, 4096, transposed="b")
    for after in ("bias_gelu", "residual"):
        yield Case("speed", 4096, 4096, 4096, after=after)
    yield from shapes()


def shapes(path: Path = HERE / "shapes.csv") -> Iterator[Case]:
    """The 30 largest products of one matrix each whose rows TMA takes, of a table of shapes from models."""
    with path.open() as rows:
        for row in csv.DictReader(rows):
            yield Case("speed", int(row["M"]), int(row["N"]), int(row["K"]))


def tilings() -> Iterator[Case]:
    """Other tiles for the same products, to choose from."""
    for size in (1024, 2048, 4096, 8192):
        for m, n, ahead in ((64, 128, 5), (64, 256, 4), (128, 64, 5), (128, 128, 4), (128, 256, 3), (256, 128, 3)):
            params = {"workgroup_m": m, "workgroup_n": n, "prefetch": ahead}
            yield Case("tilings", size, size, size, params=params)
    for size in (4096, 8192):
        for rows in (2, 4, 16, 32):
            yield Case("tilings", size, size, size, options={"group_rows": rows})


def write(folder: Path, cases: list[Case]) -> None:
    """Compiles the cases and writes all that the other machine needs."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for number, case in enumerate(cases):
        source = folder / "payload.mlir"
        source.write_text(payload(case))
        kernel = xetile.compile(source, target=TARGET, params=case.params, **case.options)
        file = f"k{number:03}.so"
        kernel.save(folder / file)
        entries.append({"name": case.name, "file": file, **asdict(case)})
    (folder / "payload.mlir").unlink(missing_ok=True)
    (folder / "cases.json").write_text(json.dumps(entries, indent=1))
    shutil.copy(cuda.library_path(), folder)
    shutil.copy(HERE / "on_device.py", folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=("numbers", "speed", "tilings"), action="append")
    options = parser.parse_args()
    chosen = options.only or ["numbers", "speed"]
    kinds = {"numbers": numbers, "speed": speed, "tilings": tilings}
    write(options.folder, [case for kind in chosen for case in kinds[kind]()])
    print(f"{options.folder}: {len(list(options.folder.glob('*.so')))} files; run on_device.py there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
