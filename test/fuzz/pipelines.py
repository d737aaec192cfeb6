# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The passes and pipelines that are ours, with their options, as xetile-opt lists them; random calls of them."""

from __future__ import annotations

import os
import random
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from corpus import ROOT, Chunk

# Values for options that take words; others are made up from the option's type.
_WORDS = {
    "chip": ["pvc", "bmg", "lnl"],
    "xegpu-op-level": ["workgroup", "subgroup", "instruction", "lane"],
    "native-chips": ["pvc", "pvc,bmg"],
    "large-register-file": ["auto", "true", "false"],
    "results-as-arguments": ["auto", "true", "false"],
    "target": ["bmg", "cpu", "lnl", "pvc"],
    "files": [str(ROOT / "schedules" / name) for name in ("matmul.mlir", "cpu_matmul.mlir", "parts")],
    "values": ["k_step=16", "threads=1", "prefetch=-1", "nosuch=1"],
    "machine": ["auto", "dlti"],
    "pack": ["auto", "always", "never"],
    "scope": ["device", "host"],
    "forbid": ["xetile", "arith.addf,scf", "nosuch"],
    "allow": ["xetile,vector,arith,func,gpu,scf", "gpu.module"],
    "after": ["it"],
    "hint": ["more"],
    "dump-dir": ["dump", "dump/a/b"],
    "ocloc": ["/bin/false"],
    "config": [
        "'{}'",
        "'{\"threads\":2}'",
        '\'{"MBlock":32,"NBlock":32,"KBlock":32}\'',
        '\'{"MThreads":2,"NThreads":2,"KThreads":1}\'',
        '\'{"innermostMBlock":8,"innermostNBlock":32,"innermostKBlock":16}\'',
    ],
}
_STRANGE = ["''", "nosuch", "-1", "0", "9223372036854775807", "'a b'", "pvc,", "{}", "/dev/null/x"]
# Levels of the targets of xetile-compile, and options that each has.
_LEVELS = {
    "cpu": ["0-linalg", "1-tiled", "2-memory", "3-llvm"],
    "gpu": ["0-linalg", "1-xetile-workgroup", "2-xetile-subgroup", "3-xetile-blocked", "4-xegpu", "5-xevm", "6-llvm"],
}
_OPTIONS = {
    "cpu": {"config": "string", "fuse": "", "libmvec": "", "pack": "string", "results-as-arguments": "value",
            "threads": "long", "vector-bits": "long"},
    "gpu": {"O": "int", "dump-dir": "string", "native-chips": "string"},
}  # fmt: skip
_NUMBERS = [0, 1, 2, 3, 7, 8, 16, 31, 32, 64, 128, 256, 512, 1000, 4096]
_EDGES = [-1, -16, 2**31, 2**31 - 1, 2**32, 2**63 - 1, -(2**63)]


@dataclass(frozen=True)
class Pass:
    """`options` are pairs of a name and the type that help shows: long, uint, string, value; empty for a flag."""

    name: str
    options: tuple[tuple[str, str], ...]


def build_folder() -> Path:
    """Where the tools are."""
    return Path(os.environ.get("XETILE_BUILD") or ROOT / "build")


@cache
def ours() -> tuple[Pass, ...]:
    """Whatever xetile-opt knows and stock mlir-opt does not."""
    stock = {entry.name for entry in _help("mlir-opt-22")}
    return tuple(entry for entry in _help(str(build_folder() / "bin" / "xetile-opt")) if entry.name not in stock)


def _help(tool: str) -> list[Pass]:
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    text = re.split(r"\n(?=\S)", text[text.index("Passes:") :])[0]
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for spaces, name, value in re.findall(r"^( +)--?([\w-]+)(?:\[?[ =]<([^>]*)>\]?)? +-", text, re.M):
        if len(spaces) == 6:
            found.append((name, []))
        elif len(spaces) == 8 and found:
            found[-1][1].append((name, value))
    return [Pass(name, tuple(options)) for name, options in found]


def name_of(element: str) -> str:
    """The pass that a pipeline's element runs; of a nested one, the innermost first one."""
    return re.sub(r"^(?:[\w.]+\()*", "", element).split("{", 1)[0].split(",")[0].rstrip(")")


def is_ours(element: str) -> bool:
    """Whether nothing but our own passes runs."""
    known = {entry.name for entry in ours()}
    names = re.findall(r"[\w.-]+(?!\()", re.sub(r"\{[^{}]*\}|[\w.]+\(", ",", element))
    return all(name in known for name in names)


def random_pipeline(rng: random.Random, chunk: Chunk) -> list[str]:
    """What the chunk's own test runs, one of our passes, or some in a row."""
    choice = rng.random()
    if chunk.pipelines and choice < 0.45:
        return list(rng.choice(chunk.pipelines))
    if chunk.pipelines and choice < 0.6:
        return [*rng.choice(chunk.pipelines), _call(rng)]
    return [_call(rng) for _ in range(1 if choice < 0.9 else 2)]


def _call(rng: random.Random) -> str:
    chosen = rng.choice([*ours(), None])
    if chosen is None:
        schedule = rng.choice(["matmul", "cpu_matmul"])
        folder = ROOT / "schedules"
        paths = f"{folder}/parts,{folder}/{schedule}.mlir"
        return f"transform-preload-library{{transform-library-paths={paths}}},transform-interpreter"
    if chosen.name == "xetile-compile":
        return _compile(rng)
    options = []
    for name, type_ in chosen.options:
        if name == "native" and rng.random() < 0.98:
            options.append("native=off")  # what ocloc does is another program's business
        elif name == "chip" or rng.random() < 0.3:
            value = _value(rng, name, type_)
            options.append(name if value is None else f"{name}={value}")
    return chosen.name + ("{" + " ".join(options) + "}" if options else "")


def _compile(rng: random.Random) -> str:
    """A walk of xetile-compile; mostly between levels and with options that the target has."""
    target = rng.choice(_WORDS["target"])
    kind = "cpu" if target == "cpu" else "gpu"
    options = [f"target={target}"] + (["native=off"] if kind == "gpu" else [])
    for name in ("from", "to"):
        if rng.random() < 0.5:
            options.append(f"{name}={rng.choice(_LEVELS[kind] if rng.random() < 0.9 else _STRANGE)}")
    if rng.random() < 0.5:
        options.append(f"schedule={rng.choice(_WORDS['files'])}")
        options += [f"set={rng.choice(_WORDS['values'])}"] * (rng.random() < 0.3)
    for name, type_ in _OPTIONS[kind if rng.random() < 0.95 else "cpu"].items():
        if rng.random() < 0.2:
            value = _value(rng, name, type_)
            options.append(name if value is None else f"{name}={value}")
    return f"xetile-compile{{{' '.join(options)}}}"


def _value(rng: random.Random, name: str, type_: str) -> str | None:
    if rng.random() < 0.06:
        return rng.choice(_STRANGE)
    if name in _WORDS:
        return rng.choice(_WORDS[name])
    if not type_:
        return rng.choice([None, "true", "false"])
    if type_ in ("long", "uint", "int", "ulong"):
        return str(rng.choice(_NUMBERS if rng.random() < 0.8 else _EDGES))
    return rng.choice(_STRANGE)
