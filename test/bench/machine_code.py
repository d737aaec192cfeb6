# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make bench`: machine code of our kernels, of upstream's pipeline and of OpenCL C by hand, by the same ocloc.

usage: machine_code.py [--json FILE]

Counts of instructions, not times. A step's loads are the same on all three sides, or the table shows it. Exit status 1
if ours spills, is over the must column, or has more instructions beside a dpas (without dpas: in the kernel) than the
hand-written one.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import xetile
from machine_code_kernels import BENCHES, SIZE, Bench
from xetile import passes
from xetile.mlir import ir
from xetile.mlir.dialects import gpu
from xetile.reports import assembly
from xetile.schedule import figures
from xetile.system import tools

CHIPS = ("pvc", "bmg")
HERE = Path(__file__).parent
# docs/machine-code.md: mov and others per dpas of the f16 kernel.
MUST = figures.most_of_matmuls()
AIM = {"pvc": (0.11, 0.36), "bmg": (0.03, 0.28)}


@dataclass(frozen=True)
class Row:
    """Machine code of one side: in the loop per dpas, or of the whole kernel where no loop has any."""

    bench: str
    side: str
    chip: str
    spill_bytes: int
    instructions: int
    dpas: int
    loads: float
    mov: float
    other: float

    @classmethod
    def of(cls, bench: str, side: str, chip: str, program: assembly.Program) -> Row:
        loop = program.hottest()
        kinds = (loop or assembly.Loop(program.code)).kinds()
        dpas = kinds["dpas"]
        each = dpas or 1
        others = sum(kinds.values()) - dpas
        return cls(
            bench, side, chip, program.spill_bytes, len(program.code), dpas,
            kinds["load"] / each, kinds["mov"] / each, others / each,
        )  # fmt: skip

    def cells(self) -> list[str]:
        digits = 2 if self.dpas else 0
        figures = [f"{value:.{digits}f}" for value in (self.mov, self.other)]
        loads = f"{self.loads:.3f}" if self.dpas else f"{self.loads:.0f}"
        return [self.bench, self.side, self.chip, str(self.spill_bytes), str(self.dpas or "none"), loads, *figures]


def compile_xetile(bench: Bench, chip: str, payloads: bool = True) -> bytes:
    """The SPIR-V of our side."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(bench.xetile)
        options = f"chip={chip} native=off prefetch-payloads={str(payloads).lower()}"
        passes.run(module, f"xetile-lower-to-binary{{{options}}}")
        (binary,) = (op for op in module.body.operations if op.operation.name == "gpu.binary")
        return bytes(gpu.ObjectAttr(ir.ArrayAttr(binary.attributes["objects"])[0]).object)


def run(*command: str | Path) -> str:
    """What a tool prints; an XeTileError if it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise xetile.XeTileError(f"{command[0]} failed\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def compile_upstream(bench: Bench, folder: Path) -> Path:
    """The SPIR-V of upstream's pipeline; its own emission makes it invalid, so LLVM's tools do that."""
    text = (HERE / "upstream_gemm.mlir").read_text()
    source = folder / "upstream.mlir"
    source.write_text(text.replace("ELEMENT", bench.element).replace("EXTENT", str(bench.k)))
    options = "xegpu-op-level=workgroup zebin-chip=pvc binary-format=llvm"
    lowered = run("mlir-opt-22", source, f"--gpu-lower-to-xevm-pipeline={options}")
    blob = re.search(r'(?:bin|llvm|offload) = "((?:[^"\\]|\\.)*)"', lowered)
    assert blob, "upstream made no binary"
    bitcode = folder / "upstream.bc"
    bitcode.write_bytes(
        re.sub(
            rb"\\([0-9A-F]{2}|.)",
            lambda m: bytes([int(m[1], 16)]) if len(m[1]) == 2 else m[1],
            blob[1].encode("latin-1"),
            flags=re.DOTALL,
        )
    )
    optimized, spirv = folder / "upstream.opt.bc", folder / "upstream.spv"
    run("opt-22", "-O2", bitcode, "-o", optimized)
    # Level 0: without its loop strength reduction.
    run("llc-22", "-O0", "-mtriple=spirv64-unknown-unknown", "-filetype=obj", optimized, "-o", spirv)
    run("spirv-val", "--target-env", "spv1.4", spirv)
    return spirv


def dumped(ocloc: Path, source: Path, chip: str, folder: Path, options: str) -> Iterator[str]:
    """The assembly of each kernel that ocloc makes of SPIR-V or OpenCL C."""
    dumps = Path(tempfile.mkdtemp(dir=folder))
    spirv = ["-spirv_input"] if source.suffix == ".spv" else []
    command = [ocloc, "compile", *spirv, "-file", source, "-device", chip, "-output", dumps / "kernel"]
    command += ["-options", options]
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        env={"IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": str(dumps), "PATH": "/usr/bin:/bin"},
    )
    if done.returncode:
        raise xetile.XeTileError(f"ocloc failed on {source.name} for {chip}\n{(done.stdout + done.stderr)[-2000:]}")
    texts = (path.read_text() for path in sorted(dumps.glob("*.asm")))
    yield from (text for text in texts if "//.kernel" in text)


def programs(ocloc: Path, source: Path, chip: str, folder: Path, options: str) -> Iterator[assembly.Program]:
    """The same, read."""
    yield from filter(None, map(assembly.read, dumped(ocloc, source, chip, folder, options)))


def rows_of(bench: Bench, ocloc: Path, folder: Path) -> Iterator[Row]:
    """All sides on all chips."""
    large = "" if "SOFTMAX" in bench.defines else "-ze-opt-large-register-file"
    by_hand = f"-cl-std=CL3.0 {large} -D M={SIZE} -D K={bench.k} {bench.defines}"
    by_hand += "" if "-D N=" in bench.defines else f" -D N={SIZE}"
    upstream = compile_upstream(bench, folder) if bench.element else None
    for chip in CHIPS:
        ours = folder / f"{chip}.spv"
        for side, payloads in (("xetile", True), ("xetile, plain", False)):
            if not payloads and bench.name != "f16":
                continue
            ours.write_bytes(compile_xetile(bench, chip, payloads))
            for program in programs(ocloc, ours, chip, folder, large):
                yield Row.of(bench.name, side, chip, program)
        for program in programs(ocloc, HERE / "hand_written.cl", chip, folder, by_hand):
            yield Row.of(bench.name, "by hand", chip, program)
        if upstream:
            for program in programs(ocloc, upstream, chip, folder, large):
                yield Row.of(bench.name, "upstream", chip, program)


def complaints(rows: list[Row]) -> Iterator[str]:
    """Where our side is not what it has to be."""
    peers = {(row.bench, row.chip): row for row in rows if row.side == "by hand"}
    for row in rows:
        if row.side != "xetile":
            continue
        if row.spill_bytes:
            yield f"{row.bench} on {row.chip} spills {row.spill_bytes} bytes"
        peer = peers[row.bench, row.chip].other
        if row.other > peer:
            yield f"{row.bench} on {row.chip} has {row.other:.2f} others, by hand {peer:.2f}"
        if row.bench.startswith(("f16, k", "bf16")) or row.bench == "f16":
            most = MUST[row.chip]
            # The columns have two digits.
            if round(row.mov, 2) > most[0] or round(row.other, 2) > most[1]:
                yield f"{row.bench} on {row.chip} is over the must column: {row.mov:.2f}, {row.other:.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE too")
    options = parser.parse_args()
    ocloc = tools.find_ocloc()
    if not ocloc:
        print("no machine code: ocloc was not found (scripts/install-ocloc)")
        return 0
    print(f"machine code by {tools.ocloc_version(ocloc)}: {SIZE}^3 if not told otherwise, a subgroup has 32x64 of C")
    print("mov and other: instructions per dpas of the hottest loop; where no loop has any, those of the kernel")
    head = ["kernel", "side", "chip", "spill", "dpas", "load", "mov", "other"]
    widths = [18, 13, 4, 6, 5, 6, 5, 6]

    def show(cells: list[str]) -> None:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip(), flush=True)

    show(head)
    rows = []
    for bench in BENCHES:
        with tempfile.TemporaryDirectory() as folder:
            for row in rows_of(bench, ocloc, Path(folder)):
                rows.append(row)
                show(row.cells())
    for name, column in (("must", MUST), ("aim", AIM)):
        for chip, (mov, other) in column.items():
            show(["f16, bf16", name, chip, "0", "", "0.094", f"{mov:.2f}", f"{other:.2f}"])
    said = list(complaints(rows))
    print("\n".join(f"bench: {text}" for text in said) or "ours reaches the must column; nothing by hand has fewer")
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    return 1 if said else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except xetile.XeTileError as error:
        sys.exit(f"bench: error: {error}")
