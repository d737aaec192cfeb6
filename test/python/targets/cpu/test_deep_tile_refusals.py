# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configurations of deep-tiled matmuls that are not legal: the field, its value and what is legal are named."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import xetile
from deep_tile_cases import plain, random_config, random_problem
from xetile import XeTileError, cli, cpu

FIELDS = list(cpu.MatmulConfig.__dataclass_fields__)
# Sizes and counts around every limit.
WILD = [0, 1, 2, 3, 7, 16, 31, 64, 100, 4096, 4097, 65536, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1]
WILD += [-1, -2, -64, -(2**31), -(2**63) + 1, -(2**63), 2**63, 10**30]
CACHES = ("L1_cache_size_in_bytes", "L2_cache_size_in_bytes", "L3_cache_size_in_bytes")
TYPES = [
    ("f32", "f32"),
    ("bf16", "f32"),
    ("bf16", "bf16"),
    ("f16", "f32"),
    ("f64", "f64"),
    ("i8", "i32"),
    ("f32", "f64"),
]
# A build of the passes under AddressSanitizer tells an error of its own by this exit code; what the environment says
# of sanitizers (`make test-sanitized`) comes first.
SANITIZER = {"ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1"}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"MThreads": 3}, "MThreads = 3: expected at most 2"),
        (
            {"MThreads": 2, "NThreads": 2},
            r"NThreads = 2: expected at most 1, as MThreads \* NThreads \* KThreads may be 2",
        ),
        ({"MThreads": 0}, "MThreads = 0: expected 1 to 2147483647"),
        ({"KBlock": -4}, "KBlock = -4: expected 1 to 2147483647"),
        ({"NBlock": 2**31}, "NBlock = 2147483648: expected 1 to 2147483647"),
        ({"NBlock": 2**63 - 1}, "NBlock = 9223372036854775807: expected 1 to 2147483647"),
        ({"NBlock": -(2**63)}, "NBlock: expected an integer of 64 bits, got -9223372036854775808"),
        ({"NBlock": 2**63}, "NBlock: expected an integer of 64 bits, got 9223372036854775808"),
        ({"loopOrder": 6}, "loopOrder = 6: expected 0 to 5"),
        ({"loopOrder": -1}, "loopOrder = -1: expected 0 to 5"),
        ({"MBlock": 10, "innermostMBlock": 4}, "MBlock = 10: expected a multiple of innermostMBlock = 4"),
        ({"NThreads": 2, "innermostNBlock": 64, "NBlock": 64}, "NThreads = 2: expected 1 to 1"),
        ({"innermostNBlock": 2**30}, "innermostNBlock = 1073741824: expected at most 64"),
        ({"MBlocks": 2}, "unknown field 'MBlocks'; expected one of MThreads, NThreads"),
        ({"MBlock": "2"}, "MBlock: expected an integer of 64 bits, got '2'"),
        ({"MBlock": 2.0}, "MBlock: expected an integer of 64 bits, got 2.0"),
        ({"MBlock": True}, "MBlock: expected an integer of 64 bits, got True"),
        ([2], "expected fields and their values, got list"),
    ],
)
def test_illegal_configs_are_refused(config, message):
    with pytest.raises(XeTileError, match=message):
        cpu.compile(plain(64, 64, 64), config=config, threads=2)


@pytest.mark.parametrize("text", ["[1]", "3", '"MThreads"', "{", "", '{"MThreads": 2', "{'MThreads': 2}", "null"])
def test_other_json_is_refused(text):
    with pytest.raises(XeTileError, match="matmul config: expected a JSON object, got "):
        cpu.MatmulConfig.from_json(text)


@pytest.mark.parametrize("threads", [0, -1, 2.0, "2", True])
def test_threads_are_positive_integers(threads):
    with pytest.raises(XeTileError, match="threads: expected an integer from 1 to 2147483647, got "):
        cpu.compile(plain(8, 8, 8), threads=threads)


def test_threads_have_a_limit():
    with pytest.raises(XeTileError, match="threads: expected an integer from 1 to 2147483647, got 4294967296"):
        cpu.compile(plain(8, 8, 8), threads=2**32)


def test_pack_is_one_of_three():
    with pytest.raises(XeTileError, match="pack: expected one of auto, always, never, got 'sometimes'"):
        cpu.compile(plain(8, 8, 8), pack="sometimes")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"params": {"KBlock": 64}, "config": {"NBlock": 64}},
            "config: expected fields there or among params, got both",
        ),
        (
            {"params": {"KBlock": 64}, "config": {"KBlock": 64}},
            "config: expected fields there or among params, got both",
        ),
        ({"params": {"threads": 1}, "threads": 1}, "threads: expected it once, got it as an option and among params"),
        ({"params": {"pack": "never"}, "pack": "auto"}, "pack: expected it once, got it as an option and among params"),
    ],
)
def test_fields_and_options_are_given_once(given, message):
    with pytest.raises(XeTileError, match=message):
        xetile.compile(plain(64, 64, 64), target="cpu", **given)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["MThreads=0"], "MThreads = 0: expected 1 to"),
        (["MThreads=2", "KThreads=2", "threads=3"], "KThreads = 2: expected at most 1"),
        (["loopOrder=9"], "loopOrder = 9: expected 0 to 5"),
        (["MBlock=1.5"], "--set MBlock=1.5: expected an integer"),
        (["MBlock"], "--set MBlock: expected KEY=VALUE"),
        (["mblock=8"], "unknown field 'mblock'"),
        (["threads=-2"], "threads: expected an integer from 1 to 2147483647, got -2"),
        (["pack=x"], "pack: expected one of auto, always, never"),
    ],
)
def test_the_command_refuses_them(tmp_path, capsys, settings, message):
    source = tmp_path / "matmul.mlir"
    source.write_text(str(plain(64, 64, 64)))
    options = [word for setting in settings for word in ("--set", setting)]
    assert cli.main(["compile", str(source), "--target", "cpu", *options, "-o", str(tmp_path / "k.so")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "k.so").exists()


@dataclass(frozen=True)
class WildModule:
    """A matmul of any size on any machine, with a configuration that nobody would write."""

    text: str
    options: str

    @classmethod
    def draw(cls, rng: np.random.Generator) -> WildModule:
        def pick(values):
            return values[int(rng.integers(len(values)))]

        config = {field: pick(WILD) for field in rng.permutation(FIELDS)[: int(rng.integers(4))]}
        if "loopOrder" in config and rng.integers(8):
            config["loopOrder"] = int(rng.integers(6))
        m, n, k = (
            pick([0, 1, 2, 2**20, 2**31, 2**40, 2**58, "?"] if rng.integers(4) == 0 else [13, 64, 100, 512])
            for _ in range(3)
        )
        machine = {name: pick([1, 64, 32768, 2**20, 2**31, 2**62 - 1]) for name in CACHES if rng.integers(2)}
        if rng.integers(2):
            machine["num_threads"] = pick([1, 2, 8, 256, 4096, 2**31 - 1])
        if rng.integers(8) == 0:
            machine[pick([*CACHES, "num_threads", "max_vector_width"])] = pick(WILD[:-2])
        narrow, wide = pick(TYPES)
        a, b, c = f"tensor<{m}x{k}x{narrow}>", f"tensor<{k}x{n}x{narrow}>", f"tensor<{m}x{n}x{wide}>"
        fields = ", ".join(f"{name} = {value}" for name, value in config.items())
        entries = ", ".join(f'"{name}" = {value} : i64' for name, value in machine.items())
        attributes = f" {{xetile.matmul_config = #xetile.matmul_config<{fields}>}}" if config else ""
        spec = f'#dlti.target_system_spec<"CPU" = #dlti.target_device_spec<{entries}>>'
        around = f"attributes {{dlti.target_system_spec = {spec}}} " if machine else ""
        options = f"pack={pick(['auto', 'always', 'never'])}"
        if rng.integers(4) == 0:
            options += f" threads={pick([1, 4, 64, 2**31 - 1, 2**31, 2**62])}"
        text = f"""module {around}{{
          func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
            %d = linalg.matmul{attributes} ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
            return %d : {c}
          }}
        }}"""
        return cls(text, options)


def xetile_opt() -> Path:
    """$XETILE_OPT, else the one of this build."""
    return Path(
        os.environ.get("XETILE_OPT") or (Path(xetile.__file__).parent / "_lib").resolve().parent / "bin/xetile-opt"
    )


def optimise(text: str, *passes: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [xetile_opt(), *passes],
        input=text,
        env={**SANITIZER, **os.environ},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "number", [*range(60), *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(60, 400))]
)
def test_wild_configurations_are_tiled_or_refused(rng, number):
    module = WildModule.draw(rng)
    print(module.text, module.options)
    run = optimise(module.text, f"--deep-tile-matmul={module.options}", "-o", os.devnull)
    assert run.returncode in (0, 1), run.stderr
    if run.returncode == 1:
        sizes = r"cannot be tiled: expected operands of fewer than 2\^44 elements"
        field = rf"(\b({'|'.join(FIELDS)}|threads) = |DLTI entry)[^:]*: expected "
        named = rf"error: .*({field}|integer value too large|{sizes})"
        assert re.search(named, run.stderr), run.stderr


@pytest.mark.parametrize(
    "number", [*range(10), *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(10, 150))]
)
def test_legal_configurations_reach_the_llvm_dialect(rng, number):
    """The passes after the rewrite, in one process of their own."""
    problem = random_problem(rng)
    config = cpu.MatmulConfig.of(random_config(rng, problem, 4)).to_json()
    pack = ("auto", "never", "always")[int(rng.integers(3))]
    print(problem, config, pack)
    passes = [f"--deep-tile-matmul=threads=4 pack={pack} config={config}", "--xetile-bufferize-for-cpu"]
    bits = ("vector-bits=512 bf16-dot", "vector-bits=256 registers=16", "vector-bits=128 registers=16")[number % 3]
    run = optimise(str(problem.module()), *passes, f"--xetile-lower-to-cpu={bits}")
    assert run.returncode == 0, run.stderr
    assert "llvm.func @f" in run.stdout
