# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a folder with kernels for a Hopper GPU, the runtime library and `on_device.py`, which needs no compiler.

.venv/bin/python test/device/prepare.py FOLDER [--only numbers|random|speed|f32|...] [--random 500] [--seed N]
python3 FOLDER/on_device.py                        # on the machine with the GPU: PyTorch is all that it needs
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import convolution_kernels
import form_kernels
import row_kernels
import xetile
from attention_kernels import Attention, attentions
from convolution_kernels import Convolution
from form_kernels import Form
from row_kernels import Rows
from xetile.kernels import cuda

HERE = Path(__file__).parent
TARGET = "sm_90a"


@dataclass(frozen=True)
class Case:
    """A product, what follows on it, and how it is compiled. `input` is bf16, f16, s8 (sums are i32 then), tf32,
    or f32, which is multiplied exactly."""

    kind: str
    m: int
    n: int
    k: int
    input: str = "bf16"
    output: str = "bf16"
    transposed: str = ""  # "a", "b", "ab": stored so
    after: str = ""  # "bias_relu", "bias_gelu", "residual", "accumulate"
    batch: int = 0  # matrices; 0 for no dimension of them
    params: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        parts = [f"{self.batch}x"] if self.batch else []
        parts += [f"{self.m}x{self.n}x{self.k}", self.input, self.output]
        parts += [f"t{self.transposed}"] if self.transposed else []
        parts += [self.after] if self.after else []
        parts += [f"{key}{value}" for key, value in (self.params | self.options).items()]
        return "_".join(parts)


ELEMENTS = {"s8": "i8", "tf32": "f32"}  # others have the name of their type


def tensor(case: Case, rows: int, columns: int, element: str) -> str:
    batch = f"{case.batch}x" if case.batch else ""
    return f"tensor<{batch}{rows}x{columns}x{ELEMENTS.get(element, element)}>"


def payload(case: Case) -> str:
    """A function on tensors: A, B, then what follows needs."""
    m, n, k = case.m, case.n, case.k
    a_type = tensor(case, k, m, case.input) if "a" in case.transposed else tensor(case, m, k, case.input)
    b_type = tensor(case, n, k, case.input) if "b" in case.transposed else tensor(case, k, n, case.input)
    sum_type = "i32" if case.input == "s8" else "f32"
    sums, result = tensor(case, m, n, sum_type), tensor(case, m, n, case.output)
    d, b = ("z, ", "z, ") if case.batch else ("", "")
    arguments = [f"%A: {a_type}", f"%B: {b_type}"]
    extra, names, maps = {
        "": ([], [], []),
        "bias_relu": ([f"%bias: tensor<{n}xf32>"], [f"%bias : tensor<{n}xf32>"], ["(d1)"]),
        "bias_gelu": ([f"%bias: tensor<{n}xf32>"], [f"%bias : tensor<{n}xf32>"], ["(d1)"]),
        "residual": (
            [f"%bias: tensor<{n}xf32>", f"%R: {result}"],
            [f"%bias : tensor<{n}xf32>", f"%R : {result}"],
            ["(d1)", f"({d}d0, d1)"],
        ),
        "accumulate": ([f"%C: {sums}"], [], []),
    }[case.after]
    arguments += extra
    a_map = f"({b}m, n, k) -> ({b}k, m)" if "a" in case.transposed else f"({b}m, n, k) -> ({b}m, k)"
    b_map = f"({b}m, n, k) -> ({b}n, k)" if "b" in case.transposed else f"({b}m, n, k) -> ({b}k, n)"
    indexing = ", ".join(f"affine_map<{text}>" for text in (a_map, b_map, f"({b}m, n, k) -> ({b}m, n)"))
    zero = "0" if sum_type == "i32" else "0.0"
    lines = [f"%zero = arith.constant {zero} : {sum_type}", f"%empty = tensor.empty() : {sums}"]
    first = "%C" if case.after == "accumulate" else "%filled"
    if first == "%filled":
        lines.append(f"%filled = linalg.fill ins(%zero : {sum_type}) outs(%empty : {sums}) -> {sums}")
    op = "linalg.batch_matmul" if case.batch else "linalg.matmul"
    lines.append(
        f"%D = {op} indexing_maps = [{indexing}] ins(%A, %B : {a_type}, {b_type}) outs({first} : {sums}) -> {sums}"
    )
    last = "%D"
    body = list(_after(case))
    if body:
        every = [*(f"affine_map<({d}d0, d1) -> {text}>" for text in (f"({d}d0, d1)", *maps, f"({d}d0, d1)"))]
        inputs = ["%D", *(name.split(" : ")[0] for name in names)]
        types = [sums, *(name.split(" : ")[1] for name in names)]
        elements = [f"%x: {sum_type}", *(["%b: f32"] if "bias" in str(names) else [])]
        elements += [f"%r: {case.output}"] if "%R" in inputs else []
        kinds = ", ".join(['"parallel"'] * (3 if case.batch else 2))
        lines += [
            f"%out = tensor.empty() : {result}",
            f"%E = linalg.generic {{indexing_maps = [{', '.join(every)}], iterator_types = "
            f"[{kinds}]}} ins({', '.join(inputs)} : {', '.join(types)}) outs(%out : {result}) {{",
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
    if case.input == "s8" and case.output != "i32":
        yield "%float = arith.sitofp %x : i32 to f32"
        value = "%float"
    if case.after in ("bias_relu", "bias_gelu", "residual"):
        yield f"%s = arith.addf {value}, %b : f32"
        value = "%s"
    if case.after == "bias_relu":
        yield "%least = arith.constant 0.0 : f32"
        yield "%relu = arith.maximumf %s, %least : f32"
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
    if case.output not in ("f32", "i32"):
        yield f"%narrow = arith.truncf {value} : f32 to {case.output}"
        yield f"linalg.yield %narrow : {case.output}"
    elif value != "%x":
        yield f"linalg.yield {value} : {case.output}"


TILES = [(64, 64, 1), (64, 128, 1), (64, 256, 1), (128, 64, 2), (128, 128, 1), (128, 128, 2), (128, 192, 2)]
TILES += [(128, 256, 2), (256, 128, 2), (256, 64, 4), (256, 128, 4)]


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
    for m, n, count in TILES:
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
    for m, n, count, ahead in ((128, 256, 2, 3), (128, 128, 2, 1), (64, 192, 1, 2), (256, 64, 4, 2), (128, 64, 1, 3)):
        # More tiles than multiprocessors, and less.
        params = {"workgroup_m": m, "workgroup_n": n, "subgroups_m": count, "prefetch": ahead}
        for size, output, after in ((2056, "bf16", ""), (520, "f32", "bias_gelu"), (1608, "f16", "residual")):
            options = {"pipeline": "specialized"}
            yield Case("numbers", size, size + 8, 264, "bf16", output, after=after, params=params, options=options)
    for kind, output in (("s8", "i32"), ("s8", "f32"), ("s8", "bf16"), ("tf32", "f32"), ("tf32", "bf16")):
        yield Case("numbers", 515, 776, 848, kind, output, "b")
        yield Case("numbers", 2050, 2056, 1040, kind, output, "b", "bias_relu" if output != "i32" else "")
    # Rows that are no multiples of 16 bytes apart, by units of 2, 4 and 8 bytes, and columns where wgmma wants rows.
    for n in (333, 334, 332):
        for transposed in ("", "a", "b", "ab"):
            yield Case("numbers", 301, n, n + 668, "bf16", "bf16", transposed, "residual")
            yield Case("numbers", 302, n, 2 * n, "f16", "f32", transposed, "bias_relu", 3)
    for kind, output in (("s8", "i32"), ("tf32", "f32"), ("s8", "f32")):
        for transposed in ("", "a", "ab", "b"):
            yield Case("numbers", 304, 336, 1008, kind, output, transposed)
            yield Case("numbers", 301, 333, 1001, kind, output, transposed)
    for ahead in (1, 2, 5):
        params = {"workgroup_m": 128, "workgroup_n": 64, "subgroups_m": 2, "prefetch": ahead}
        yield Case("numbers", 2050, 2054, 1002, "bf16", "bf16", params=params)
        yield Case("numbers", 2049, 2053, 1001, "f16", "f16", "b", params=params)
    for batch in (1, 5):
        yield Case("numbers", 300, 200, 264, batch=batch)
        yield Case("numbers", 300, 200, 264, "f16", "f32", "b", "residual", batch=batch)
        yield Case("numbers", 304, 264, 520, "bf16", "bf16", "a", batch=batch, options={"pipeline": "specialized"})


def random_cases(seed: int) -> Iterator[Case]:
    """Shapes, types, orders, epilogues, tiles and pipelines, drawn without end."""
    draw = random.Random(seed)
    while True:
        kind = draw.choice(("bf16", "f16", "bf16", "f16", "s8", "tf32"))
        unit = {"s8": 16, "tf32": 4}.get(kind, 8)  # elements in 16 bytes
        output = draw.choice(("i32", "f32", "bf16") if kind == "s8" else ("f32", "bf16", "f16"))
        after = draw.choice(("", "", "bias_relu", "bias_gelu", "residual", "accumulate"))
        if output == "i32" or (after == "accumulate" and (kind == "s8" or output != "f32")):
            after = ""
        transposed = draw.choice(("", "a", "b", "ab") if unit == 8 else ("", "b", "b", "ab"))
        m, n, k = (max(1, int(2 ** draw.uniform(0, top))) for top in (11, 11, 12))
        if draw.random() < 0.6:
            # Rows that TMA takes.
            n = -(-n // 16) * 16
            m = -(-m // unit) * unit if "a" in transposed else m
            k = -(-k // unit) * unit
        params: dict[str, Any] = {}
        if draw.random() < 0.7:
            tile = draw.choice(TILES)
            params = dict(zip(("workgroup_m", "workgroup_n", "subgroups_m"), tile, strict=True))
            params["k_step"] = 128 // {"s8": 1, "tf32": 4}.get(kind, 2) * draw.choice((1, 1, 1, 2))
            params["prefetch"] = draw.randint(1, 6)
        options = {"pipeline": draw.choice(("auto", "simple", "specialized")), "group_rows": draw.choice((1, 2, 8))}
        batch = draw.choice((0, 0, 0, 1, 3)) if after != "accumulate" else 0
        yield Case("random", m, n, k, kind, output, transposed, after, batch, params, options)


def pipelines() -> Iterator[Case]:
    """The same products by either pipeline."""
    sizes = [(size, size, size) for size in (1024, 2048, 4096, 8192)]
    sizes += [(8192, 8192, 512), (16384, 3072, 1024), (4096, 14336, 4096), (2048, 2048, 8192)]
    for m, n, k in sizes:
        for pipeline in ("simple", "specialized"):
            yield Case("pipelines", m, n, k, options={"pipeline": pipeline})
        yield Case("pipelines", m, n, k, options={"pipeline": "specialized", "group_rows": 16})


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


def exact() -> Iterator[Case]:
    """Products of f32 that are exact: numbers, times beside cuBLAS without tf32, other tiles."""
    tiles = ((128, 128, 2), (256, 64, 2), (128, 64, 1), (128, 64, 2), (64, 128, 1), (64, 64, 1))
    ways = tuple({"pipeline": name} for name in ("simple", "specialized"))
    for options in ways:
        for transposed in ("", "a", "b", "ab"):
            yield Case("f32_numbers", 516, 776, 840, "f32", "f32", transposed, options=options)
        for m, n, count in tiles:
            params = {"workgroup_m": m, "workgroup_n": n, "subgroups_m": count, "prefetch": 2}
            yield Case("f32_numbers", 515, 776, 1192, "f32", "f32", "b", params=params, options=options)
            yield Case("f32_numbers", 516, 520, 264, "f32", "f32", "a", params=params, options=options)
    for transposed in ("", "a", "b", "ab"):
        yield Case("f32_numbers", 301, 333, 1001, "f32", "f32", transposed)
    for after in ("bias_relu", "bias_gelu", "residual", "accumulate"):
        yield Case("f32_numbers", 333, 520, 776, "f32", "f32", after=after)
    for output in ("bf16", "f16"):
        yield Case("f32_numbers", 2050, 2056, 1040, "f32", output, "b", "bias_relu")
    yield Case("f32_numbers", 300, 200, 264, "f32", "f32", "b", "residual", batch=5)
    yield Case("f32_numbers", 304, 264, 520, "f32", "f32", "a", batch=3)
    yield Case("f32_numbers", 1, 8, 4096, "f32", "f32")
    yield Case("f32_numbers", 130, 136, 50304, "f32", "f32")
    for transposed in ("", "ab"):
        # Workgroups share k.
        yield Case("f32_numbers", 64, 1024, 4096, "f32", "f32", transposed, "bias_gelu")
    for size in (1024, 2048, 4096, 8192):
        yield Case("f32", size, size, size, "f32", "f32")
    for m, n, k in ((1000, 1000, 1000), (777, 1555, 3001), (197, 3072, 768), (2048, 768, 50304), (64, 4096, 4096),
                    (16384, 96, 384), (3136, 576, 64), (4095, 4097, 1023)):  # fmt: skip
        yield Case("f32", m, n, k, "f32", "f32")
    yield Case("f32", 4096, 4096, 4096, "f32", "f32", "b")
    yield Case("f32", 2048, 2048, 2048, "f32", "f32", "a", "bias_gelu")
    for size in (1024, 2048, 4096):
        for options in ways:
            for m, n, count in tiles:
                params = {"workgroup_m": m, "workgroup_n": n, "subgroups_m": count}
                yield Case("f32_tilings", size, size, size, "f32", "f32", params=params, options=options)


def write(folder: Path, cases: Iterable[Case | Attention | Form | Rows | Convolution], drawn: int) -> None:
    """Compiles the cases, and of those that are drawn as many as said, and writes all that the other machine needs.
    Drawn ones that are refused are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    entries: list[dict[str, Any]] = []
    refused: list[str] = []
    for case in cases:
        if isinstance(case, Attention | Form | Rows | Convolution):
            source = folder / "payload.mlir"
            source.write_text(case.payload())
            kernel = xetile.compile(source, schedule=case.schedule, target=TARGET, params=case.params, **case.options)
            entries.append({"name": case.name, "file": f"k{len(entries):03}.so", **asdict(case)})
            kernel.save(folder / entries[-1]["file"])
            continue
        if case.kind == "random" and drawn == sum(entry["kind"] == "random" for entry in entries):
            break
        source = folder / "payload.mlir"
        source.write_text(payload(case))
        params = case.params | ({"precision": "tf32"} if case.input == "tf32" else {})
        try:
            kernel = xetile.compile(source, target=TARGET, params=params, **case.options)
        except xetile.XeTileError as error:
            if case.kind != "random":
                raise
            refused.append(f"{case.name}: {str(error).splitlines()[-1].strip()}")
            continue
        file = f"k{len(entries):03}.so"
        kernel.save(folder / file)
        entries.append({"name": case.name, "file": file, **asdict(case)})
    (folder / "payload.mlir").unlink(missing_ok=True)
    (folder / "cases.json").write_text(json.dumps(entries, indent=1))
    (folder / "refused.txt").write_text("\n".join(refused))
    shutil.copy(cuda.library_path(), folder)
    for file in ("on_device.py", "supervised.py", *(file.name for file in HERE.glob("*_kernels.py"))):
        shutil.copy(HERE / file, folder)


KINDS = ("numbers", "random", "speed", "pipelines", "tilings", "attention", "rows", "forms", "f32", "f32_convolutions")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=KINDS, action="append")
    parser.add_argument("--random", type=int, default=500, help="cases that are drawn")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 2**31)
    options = parser.parse_args()
    chosen = options.only or ["numbers", "speed"]
    kinds: dict[str, Callable[[], Iterator[Case | Attention | Form | Rows | Convolution]]]
    kinds = {"numbers": numbers, "speed": speed, "tilings": tilings, "pipelines": pipelines, "attention": attentions}
    kinds |= {"rows": row_kernels.cases, "forms": form_kernels.cases, "f32": exact}
    kinds["f32_convolutions"] = convolution_kernels.cases
    kinds["random"] = lambda: random_cases(options.seed)
    chosen.sort(key="random".__eq__)
    write(options.folder, (case for kind in chosen for case in kinds[kind]()), options.random)
    refused = (options.folder / "refused.txt").read_text().splitlines()
    print(f"{options.folder}: {len(list(options.folder.glob('k*.so')))} kernels, seed {options.seed}: run on_device.py")
    print(f"{len(refused)} drawn cases are refused: {options.folder / 'refused.txt'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
