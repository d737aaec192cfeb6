# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code that is there already: what ocloc's disassembler says of a native binary (`K.bin`), as statistics.

The disassembler writes messages as `send.ugm (1|M0) r6 r10 null:0 ... // wr:1+0, rd:4; load.ugm.d32x64t.a64`, Intel's
compiler the same as `load.ugm.d32x64t.a64 (1|M0) r6:4 [r10:1]`, which `assembly` reads.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xetile.errors import XeTileError
from xetile.facts import chips
from xetile.reports import assembly, report
from xetile.system.tools import require_ocloc

__all__ = ["is_native", "statistics"]

_INTEL_GPU = 205  # of ELF's machines
_SEND = re.compile(
    r"^(?P<head>\s*(?:\([^)]*\)\s*)?)send[sc]?\.\w+ \((?P<lanes>[^)]*)\)\s+(?P<target>\S+)\s+(?P<address>\S+)\s+"
    r"(?P<data>\S+).*"
    r"// wr:(?P<sent>\d+)\+(?P<stored>\d+), rd:(?P<read>\d+); (?P<message>\S+)"
)


def is_native(data: bytes) -> bool:
    """True for an ELF file of an Intel GPU."""
    return data[:4] == b"\x7fELF" and int.from_bytes(data[18:20], "little") == _INTEL_GPU


def statistics(data: bytes, chip: Any) -> tuple[report.KernelStatistics, ...]:
    """The statistics of each kernel of a native binary for a chip (its name or Target). XeTileError if there is no
    ocloc, and with its log if it does not take the binary apart."""
    facts = chips.facts_of(chip)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernel.bin").write_bytes(data)
        command = [str(require_ocloc()), "disasm", "-file", "kernel.bin", "-device", facts["ocloc_device"]]
        try:
            run = subprocess.run(
                [*command, "-dump", "dump"], cwd=folder, capture_output=True, text=True, errors="replace", timeout=300
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise XeTileError(f"ocloc does not run: {error}") from None
        texts = sorted(Path(folder, "dump").glob(".text.*.asm"))
        if run.returncode or not texts:
            raise XeTileError(
                f"ocloc takes no kernel out of the binary for {facts['chip']}; was it compiled for another device?\n"
                f"{(run.stdout + run.stderr).strip()}"
            )
        info = Path(folder, "dump", ".ze_info")
        told = dict(_environments(info.read_text(errors="replace") if info.exists() else ""))
        found = []
        for path in texts:
            name = path.name.removeprefix(".text.").removesuffix(".asm")
            if name in told:
                found.append(_read(path.read_text(errors="replace"), name, told[name], facts["chip"], len(data)))
    return tuple(found)


def _environments(info: str) -> Iterator[tuple[str, str]]:
    """The text of each kernel in .ze_info, by name."""
    kernels = info.partition("\nkernels:")[2].partition("\nkernels_misc_info:")[0]
    for text in re.split(r"^  - (?=name:)", kernels, flags=re.MULTILINE)[1:]:
        name = re.match(r"name:\s*'?([^'\n]+)", text)
        if name:
            yield name[1].strip(), text


def _read(text: str, name: str, environment: str, chip: str, size: int) -> report.KernelStatistics:
    def number(key: str) -> int:
        found = re.search(rf"^\s*{key}:\s*(\d+)", environment, re.MULTILINE)
        return int(found[1]) if found else 0

    lines = [f'//.kernel "{name}"', f"//.spill size {number('spill_size')}", f"// numGRF={number('grf_count')}"]
    lines += [_as_compiled(line) for line in text.splitlines()]
    counted = report.count(assembly.read("\n".join(lines)), chip, size)
    assert counted
    return counted


def _as_compiled(line: str) -> str:
    """A line of the disassembler in the words of the compiler's own dump."""
    found = _SEND.match(line)
    if not found:
        return line
    store = found["stored"] != "0"
    target = f"{found['target']}:{found['read']}" if found["target"] != "null" else "null:0"
    data = f" {found['data'].partition(':')[0]}:{found['stored']}" if store else ""
    address = f"[{found['address']}:{found['sent']}]"
    operands = f"{address}{data}" if found["message"].startswith("store") else f"{target} {address}{data}"
    return f"{found['head']}{found['message']} ({found['lanes']}) {operands}"
