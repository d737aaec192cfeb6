# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measured configurations of matmuls: what is kept, what is ignored, what is refused."""

from __future__ import annotations

import hashlib
import json
import re
import warnings

import numpy as np
import pytest
import xetile
from deep_tile_cases import SMALL, Problem, blocked, compare
from xetile import XeTileError, cli, cpu
from xetile.facts import measured_configs
from xetile.mlir import ir

F32 = ("f32", "f32", "f32")
QUICK = {"threads": 1, "seconds": 0.01}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XETILE_CACHE", str(tmp_path))
    return tmp_path / "tuned"


def problem(m: int = 60, n: int = 70, k: int = 80, **options) -> Problem:
    return Problem("plain", blocked("plain", m, n, k), F32, fill=True, **options)


def two_matmuls() -> ir.Module:
    square = "tensor<64x64xf32>"
    with ir.Context():
        return ir.Module.parse(
            f"""
            func.func @f(%a: {square}, %b: {square}, %w: tensor<64x32xf32>, %d: tensor<64x32xf32>)
                -> tensor<64x32xf32> {{
              %0 = linalg.matmul ins(%a, %b : {square}, {square}) outs(%a : {square}) -> {square}
              %1 = linalg.matmul ins(%0, %b : {square}, {square}) outs(%0 : {square}) -> {square}
              %2 = linalg.matmul ins(%1, %w : {square}, tensor<64x32xf32>) outs(%d : tensor<64x32xf32>)
                -> tensor<64x32xf32>
              return %2 : tensor<64x32xf32>
            }}"""
        )


def test_what_was_measured_is_known(rng, cache):
    given = problem()
    (first,) = xetile.tune(given.module(), **QUICK)
    assert 2 <= first.tried <= 5
    assert first.speedup >= 1
    (file,) = cache.iterdir()
    changed = file.stat().st_mtime_ns
    (second,) = xetile.tune(given.module(), **QUICK)
    assert second.tried == 0
    assert (second.config, second.pack, second.speedup) == (first.config, first.pack, first.speedup)
    kernel = cpu.compile(given.module(), threads=1, tune=True)
    assert file.stat().st_mtime_ns == changed, "it was measured again"
    arrays = given.arrays(rng, kernel)
    compare(given, arrays, kernel(*arrays))
    (third,) = xetile.tune(given.module(), again=True, **QUICK)
    assert third.tried


def test_the_model_has_its_own_choice_among_the_candidates(cache):
    module = problem().module()
    own = json.loads(cpu.explain(module, threads=1).partition(": ")[2].splitlines()[0])
    (found,) = xetile.tune(module, candidates=1, **QUICK)
    assert (found.tried, found.speedup, json.loads(found.config.to_json())) == (1, 1.0, own)


def test_the_fastest_is_kept(monkeypatch):
    given = [3.0, 2.0, 1.0, 4.0]
    monkeypatch.setattr(measured_configs, "_times", lambda functions, *_: given[: len(functions)])
    (found,) = xetile.tune(problem(200, 300, 400).module(), candidates=4, **QUICK)
    assert (found.tried, found.speedup) == (4, 3.0)
    given[:] = [1.0, 0.99, 1.0, 1.0]
    (found,) = xetile.tune(problem(200, 300, 401).module(), candidates=4, **QUICK)
    assert found.speedup == 1.0, "what is faster by a per cent is no faster"


def test_a_known_configuration_tiles(rng, cache):
    given = problem()
    xetile.tune(given.module(), candidates=1, **QUICK)
    (file,) = cache.iterdir()
    file.write_text(rewritten(file.read_text(), config=SMALL, pack="always"))
    kernel = cpu.compile(given.module(), threads=1, tune=True)
    expected = cpu.compile(given.module(), threads=1, config=SMALL, pack="always")
    assert kernel.stages["1-tiled"] == expected.stages["1-tiled"]
    assert kernel.stages["1-tiled"] != cpu.compile(given.module(), threads=1).stages["1-tiled"]
    arrays = given.arrays(rng, kernel)
    compare(given, arrays, kernel(*arrays))


def rewritten(text: str, **changes) -> str:
    """As if it had been measured so: with its digest."""
    content = json.loads(text) | changes
    del content["digest"]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return json.dumps(content | {"digest": digest})


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "edit",
    [
        lambda text: re.sub('"innermostNBlock": [0-9]+', '"innermostNBlock": 3', text),
        lambda text: rewritten(re.sub('"innermostNBlock": [0-9]+', '"innermostNBlock": 0', text)),
        lambda text: re.sub('"speedup": [0-9]', '"speedup": 7', text),
        lambda text: text.replace('"digest"', '"digset"'),
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace('"pack": "auto"', '"pack": "sometimes"').replace('"never"', "7"),
        lambda text: text.replace('"KBlock"', '"KBlocks"'),
        lambda text: text.replace('"x86_64"', '"z80"'),
        lambda text: text.replace('"threads": 1', '"threads": 64'),
        lambda text: text.replace('"speedup"', '"speed"'),
        lambda text: rewritten(text.replace('"x86_64"', '"z80"')),
        lambda text: rewritten(text.replace('"threads": 1', '"threads": 64')),
        lambda text: rewritten(text.replace('"build": "', '"build": "0.0 ')),
    ],
    ids=[
        "edited",
        "illegal",
        "speedup",
        "no digest",
        "half",
        "empty",
        "list",
        "pack",
        "field",
        "machine",
        "threads",
        "missing",
        "whole, of another machine",
        "whole, of other threads",
        "whole, of another build",
    ],
)
def test_files_that_are_wrong_are_ignored_by_name(cache, edit):
    module = problem().module()
    xetile.tune(module, candidates=1, **QUICK)
    (file,) = cache.iterdir()
    file.write_text(edit(file.read_text()))
    with pytest.warns(RuntimeWarning, match=f"{file.name} is ignored: .*measured again"):
        (found,) = xetile.tune(module, **QUICK)
    assert found.tried
    assert xetile.tune(module, **QUICK)[0].tried == 0


def test_no_flipped_bit_of_a_file_is_an_error_or_another_configuration(cache):
    module = problem().module()
    (first,) = xetile.tune(module, candidates=1, **QUICK)
    (file,) = cache.iterdir()
    data, entry = file.read_bytes(), measured_configs._Entry(first.matmul, 1)
    seed = np.random.SeedSequence().entropy
    for place in np.random.default_rng(seed).integers(0, 8 * len(data), 300):
        broken = bytearray(data)
        broken[place // 8] ^= 1 << place % 8
        file.write_bytes(broken)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = entry.read(module.context)
        # White space and the case of \\u escapes say the same.
        known = None if found is None else (found.config, found.pack, found.speedup)
        assert known in (None, (first.config, first.pack, first.speedup)), f"seed {seed}, bit {place}"
        assert len(told) == (found is None)
    file.write_bytes(data)
    assert entry.read(module.context) is not None


def test_an_illegal_configuration_in_a_file_is_an_error_of_its_field(cache):
    module = problem().module()
    xetile.tune(module, candidates=1, **QUICK)
    (file,) = cache.iterdir()
    config = json.loads(file.read_text())["config"]
    file.write_text(rewritten(file.read_text(), config=config | {"MThreads": 77}))
    with pytest.raises(XeTileError, match="MThreads = 77: expected"):
        cpu.compile(module, threads=1, tune=True)


def test_each_matmul_is_kept_at_once(cache):
    def die(found):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        xetile.tune(two_matmuls(), on_found=die, **QUICK)
    assert len(list(cache.iterdir())) == 1
    found = xetile.tune(two_matmuls(), **QUICK)
    assert [entry.tried > 0 for entry in found] == [False, True], "two of three matmuls are alike"


def test_several_matmuls_together(rng):
    kernel = cpu.compile(two_matmuls(), threads=1, tune=True)
    a, b, w, d = (rng.uniform(-1, 1, spec.shape).astype("f4") for spec in kernel.arguments)
    x = a.astype("f8") @ b + a
    expected = (x @ b + x) @ w + d
    assert np.abs(kernel(a, b, w, d) - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": 0}, "candidates: expected 1 to 1000, got 0"),
        ({"candidates": "5"}, "candidates: expected an integer from 1 to 1000, got '5'"),
        ({"seconds": 0}, "seconds: expected more than 0"),
        ({"seconds": float("nan")}, "seconds: expected more than 0"),
        ({"again": 1}, "again: expected True or False"),
        ({"threads": 0}, "threads: expected an integer from 1"),
        ({"target": "pvc"}, "tune: expected the target cpu, got pvc"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(XeTileError, match=message):
        xetile.tune(problem().module(), **options)


def test_tune_of_compile_is_a_bool_and_alone():
    with pytest.raises(XeTileError, match="tune: expected True or False, got"):
        cpu.compile(problem().module(), tune="yes")
    for beside in ({"config": {"KBlock": 16}}, {"pack": "always"}):
        with pytest.raises(XeTileError, match="tune: expected no config and no pack beside it"):
            cpu.compile(problem().module(), tune=True, **beside)
    with pytest.raises(XeTileError, match="has no option 'tune'"):
        xetile.compile(problem().module(), target="pvc", tune=True)


def test_what_cannot_be_measured():
    with pytest.raises(XeTileError, match="tune: .*expected arguments of static sizes"):
        xetile.tune(problem(dynamic="m").module(), **QUICK)
    with ir.Context():
        copy = ir.Module.parse("func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }")
    with pytest.raises(XeTileError, match="tune: there is no matmul"):
        xetile.tune(copy, **QUICK)


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    blocked_by = tmp_path / "file"
    blocked_by.write_text("")
    monkeypatch.setenv("XETILE_CACHE", str(blocked_by))
    with pytest.raises(XeTileError, match=r"cannot write .*\.json: .*; name another folder in XETILE_CACHE"):
        xetile.tune(problem().module(), candidates=1, **QUICK)


def test_the_command(tmp_path, capfd):
    source = tmp_path / "matmul.mlir"
    source.write_text(str(problem().module()))
    arguments = ["tune", str(source), "--threads", "1", "--seconds", "0.01", "--candidates", "2"]
    assert cli.main(arguments) == 0
    assert "fastest of 2, pack=" in capfd.readouterr().out
    assert cli.main(arguments) == 0
    assert "known, pack=" in capfd.readouterr().out
    assert cli.main([*arguments, "--target", "bmg"]) == 1
    assert "expected the target cpu, got bmg" in capfd.readouterr().err
