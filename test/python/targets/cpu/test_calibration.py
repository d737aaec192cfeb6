# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measured rates of this CPU: what is kept and used, what is ignored, what explain says of them."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import xetile
from deep_tile_cases import Problem, blocked, compare
from xetile import XeTileError, cli, cpu, passes
from xetile.mlir import ir
from xetile.targets import cpu_calibration as calibration

describe = calibration.describe
F32 = ("f32", "f32", "f32")


@pytest.fixture(autouse=True)
def cache(calibrated, tmp_path, monkeypatch):
    """A cache of its own, and what the other tests do without."""
    monkeypatch.setattr(calibration, "describe", describe)
    monkeypatch.setattr(calibration, "_TURN", 0.005)
    monkeypatch.delenv("XETILE_TEST_MACHINE", raising=False)
    monkeypatch.delenv("XETILE_CALIBRATION")
    # Any CPU is one of the table, but in tests of others.
    monkeypatch.setattr(calibration._xetile, "knows_cpu", lambda: True)
    monkeypatch.setenv("XETILE_CACHE", str(tmp_path))
    return tmp_path / "calibration"


def problem() -> Problem:
    return Problem("plain", blocked("plain", 60, 70, 80), F32, fill=True)


def right(rng: np.random.Generator, kernel: xetile.Kernel) -> None:
    arrays = problem().arrays(rng, kernel)
    compare(problem(), arrays, kernel(*arrays))


def the_file(cache):
    (path,) = cache.iterdir()
    return path


def told_rates(module: ir.Module) -> tuple[str, dict[str, float]]:
    """Where they come from, and the numbers of the line, in order."""
    found = re.search(r"rates \((.*)\), ns:(.*)", cpu.explain(module))
    return found[1], [float(number) for number in re.findall(r" (\d+\.\d+)", found[2])]


def test_what_was_measured_is_what_the_model_takes(rng, cache):
    source, _ = told_rates(problem().module())
    assert source.startswith(("known of ", "typical"))
    measured = []
    found = xetile.calibrate(on_measured=lambda name, value: measured.append((name, value)))
    assert 0 < found.seconds < 60
    assert dict(measured) == dict(found.rates)
    assert set(found.rates) <= set(calibration.RATES)
    assert {"multiply_add_ns", "copy_l3_ns", "wait_unaligned_ns"} <= set(found.rates)
    assert calibration.known() == calibration.Calibration(found.rates, found.path, spread=found.spread)
    source, numbers = told_rates(problem().module())
    assert source == "DLTI" + (f", within {100 * found.uncertainty:.0f} %" if found.uncertainty else "")
    assert numbers[0] == pytest.approx(found.rates["multiply_add_ns"], abs=0.006)
    kernel = cpu.compile(problem().module())
    right(rng, kernel)
    assert "multiply_add_ns" in str(kernel.stages.stage("1-tiled").module)
    # The payload is as it came.
    assert "multiply_add_ns" not in str(kernel.stages.stage("0-linalg").module)


def test_rates_are_those_of_a_machine(cache):
    """Bounds of any x86 that is not older than AVX2: a mistake in units or counts breaks them."""
    rates = xetile.calibrate().rates
    assert 0.02 < rates["multiply_add_ns"] < 5
    for name in ("bf16_dot_ns", "int8_dot_ns"):
        if name in rates:
            assert 0.2 < rates[name] / rates["multiply_add_ns"] < 16
    # A KiB is read at 1 to 500 GB/s, and written and copied no faster than it may be read from the first level.
    for name in ("read_l2_ns", "read_l3_ns", "copy_l2_ns", "copy_l3_ns", "write_l2_ns", "write_l3_ns"):
        assert 2 < rates[name] < 1000, name


def test_a_description_of_ones_own_stays(cache):
    xetile.calibrate()
    assert '"host"' in str(cpu.compile(problem().module()).stages.stage("1-tiled").module)
    given = Problem("plain", blocked("plain", 60, 70, 80), F32, fill=True, machine={"L2_cache_size_in_bytes": 1 << 19})
    assert '"host"' not in str(cpu.compile(given.module()).stages.stage("1-tiled").module)
    own = xetile.matmul(64, 64, 64, dtype="f32")
    with own.context:
        own.operation.attributes["dlti.target_system_spec"] = ir.Attribute.parse(
            '#dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"multiply_add_ns" = 7.5 : f64>>'
        )
    source, numbers = told_rates(own)
    assert (source, numbers[0]) == ("DLTI", 7.5)


def edited(content: dict) -> dict:
    return content | {"rates": content["rates"] | {"multiply_add_ns": 0.5}}


SPOILED = [
    (lambda text: text[: len(text) // 2], "is ignored"),
    (lambda text: "", "is ignored"),
    (lambda text: "[1]", "expected a JSON object"),
    (lambda text: json.dumps(edited(json.loads(text))), "it was edited"),
    (lambda text: json.dumps(json.loads(text) | {"machine": {"model": "6"}}), "of another machine or version"),
    (lambda text: json.dumps(json.loads(text) | {"version": 0}), "of another machine or version"),
    (lambda text: json.dumps(json.loads(text) | {"rates": {"speed": 1.0}}), "unknown rate 'speed'"),
    (lambda text: json.dumps(json.loads(text) | {"rates": {"fork_ns": -1.0}}), "fork_ns: expected 0.001 to"),
    (lambda text: json.dumps(json.loads(text) | {"rates": {}}), "expected rates"),
    (lambda text: text.replace('"fork_ns": ', '"fork_ns": 1e999, "x": '), "is ignored"),
]


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("spoil", "message"), SPOILED)
def test_files_that_are_no_good_are_ignored_by_name(rng, cache, spoil, message):
    xetile.calibrate()
    path = the_file(cache)
    path.write_text(spoil(path.read_text()))
    with pytest.warns(RuntimeWarning, match=re.escape(message)) as warned:
        kernel = cpu.compile(problem().module())
    assert all(str(path) in str(warning.message) for warning in warned)
    right(rng, kernel)
    # Measuring mends it.
    xetile.calibrate()
    assert calibration.known()


@pytest.fixture
def unknown(monkeypatch):
    """The table does not have this CPU."""
    monkeypatch.setattr(calibration._xetile, "knows_cpu", lambda: False)


def measure_no_more(monkeypatch):
    def fail(*how):
        raise AssertionError("measured")

    monkeypatch.setattr(calibration, "_measure", fail)


def test_an_unknown_cpu_is_measured_once(rng, cache, unknown, monkeypatch):
    source, numbers = told_rates(problem().module())
    assert source.startswith("DLTI")
    found = calibration.known()
    assert found is not None and found.path == the_file(cache)
    assert numbers[0] == pytest.approx(found.rates["multiply_add_ns"], abs=0.006)
    measure_no_more(monkeypatch)
    kernel = cpu.compile(problem().module())
    assert '"host"' in str(kernel.stages.stage("1-tiled").module)
    right(rng, kernel)


@pytest.mark.parametrize("word", ["kept", "off"])
def test_an_unknown_cpu_is_not_measured_where_that_is_turned_off(cache, unknown, monkeypatch, word):
    xetile.calibrate()
    measure_no_more(monkeypatch)
    monkeypatch.setenv("XETILE_CALIBRATION", word)
    source, _ = told_rates(problem().module())
    assert source.startswith("DLTI") == (word == "kept")
    the_file(cache).unlink()
    source, _ = told_rates(problem().module())
    assert source.startswith(("known of ", "typical"))


def configuration(module: ir.Module) -> list[str]:
    # The rates that were not followed are told behind, with the configuration that they were compared with.
    return re.findall(r"(?:\{.*\}|pack [AB]: \w+)", cpu.explain(module))[:3]


def test_what_was_measured_is_not_followed_where_it_is_too_uncertain(monkeypatch):
    """Copies that cost a second would never be chosen."""
    module = xetile.matmul(1024, 1024, 2048, dtype="f32")
    monkeypatch.setenv("XETILE_CALIBRATION", "off")
    usual = configuration(module)
    monkeypatch.setenv("XETILE_CALIBRATION", "kept")
    rates = {"copy_l2_ns": 1e9, "copy_l3_ns": 1e9}
    found = calibration.Calibration(rates, calibration._path(), spread=dict.fromkeys(rates, 1.0))
    monkeypatch.setattr(calibration, "known", lambda: found)
    assert configuration(module) == usual


def test_the_fastest_of_brief_rounds_counts(cache, unknown, monkeypatch):
    values = {"multiply_add_ns": [0.3, 0.2, 0.9], "fork_ns": [4e6, 2e6, 3e6]}

    class Bench:
        def __init__(self, turn):
            self.turn = turn

        def measures(self):
            return [(name, own.pop) for name, own in values.items()]

    monkeypatch.setattr(calibration, "_Bench", Bench)
    calibration.describe(xetile.matmul(8, 8, 8, dtype="f32"))
    # Threads that waited for a core count no longer than those of some quiet machine.
    assert calibration.known().rates == {"multiply_add_ns": 0.2, "fork_ns": 1e4}


def test_words_of_the_environment_are_checked(unknown, monkeypatch):
    monkeypatch.setenv("XETILE_CALIBRATION", "no")
    with pytest.raises(XeTileError, match="XETILE_CALIBRATION=no: expected 'kept', 'off', or that it is not set"):
        cpu.compile(problem().module())


def test_an_unknown_cpu_is_measured_without_a_place_to_keep_that(cache, unknown, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XETILE_CACHE", str(tmp_path / "file"))
    assert told_rates(problem().module())[0].startswith("DLTI")
    measure_no_more(monkeypatch)
    assert told_rates(problem().module())[0].startswith("DLTI")


def test_files_that_are_no_good_stay_on_an_unknown_cpu(cache, unknown, monkeypatch):
    path = xetile.calibrate().path
    path.write_text("")
    measure_no_more(monkeypatch)
    with pytest.warns(RuntimeWarning, match="is ignored"):
        cpu.compile(problem().module())
    assert path.read_text() == ""


def test_explain_tells_how_long_it_takes_and_what_is_not_counted(cache):
    text = cpu.explain(problem().module())
    found = re.search(r"predicted: ([\d.]+) us of the busiest thread, ([\d.]+) to ([\d.]+); not counted: pages", text)
    assert found is not None
    least, most = float(found[2]), float(found[3])
    assert least < float(found[1]) < most


def test_a_file_that_cannot_be_written_is_named(cache, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XETILE_CACHE", str(tmp_path / "file"))
    with pytest.raises(XeTileError, match="cannot write .*calibration.*; name another folder in XETILE_CACHE"):
        xetile.calibrate()


def test_command(cache, capsys):
    assert cli.main(["calibrate"]) == 0
    printed = capsys.readouterr().out
    assert str(the_file(cache)) in printed
    for name, value in calibration.known().rates.items():
        assert re.search(rf"{name} +{value:.3f}  {re.escape(calibration.RATES[name])}", printed)


@pytest.mark.parametrize("value", ["0.0 : f64", "-1.0 : f64", "0x7FC00000 : f32", "1 : i32", '"fast"', "1.0e10 : f64"])
def test_rates_in_a_description_are_nanoseconds(value):
    module = xetile.matmul(8, 8, 8, dtype="f32")
    with module.context:
        module.operation.attributes["dlti.target_system_spec"] = ir.Attribute.parse(
            f'#dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"copy_l2_ns" = {value}>>'
        )
    expected = '"CPU", "copy_l2_ns": expected nanoseconds, a float from 0.001 to 1e9, got '
    with pytest.raises(XeTileError, match=re.escape(expected)):
        cpu.compile(module)


def test_every_rate_is_one_of_the_compiler(cache):
    """The names here and in the compiler are the same."""
    rates = ", ".join(f'"{name}" = 123.25 : f64' for name in calibration.RATES)
    module = xetile.matmul(8, 8, 8, dtype="f32")
    with module.context:
        module.operation.attributes["dlti.target_system_spec"] = ir.Attribute.parse(
            f'#dlti.target_system_spec<"CPU" = #dlti.target_device_spec<{rates}>>'
        )
    assert told_rates(module) == ("DLTI", [123.25] * len(calibration.RATES))


def test_kernels_compute_what_they_say(rng):
    """The loop that sums a tile: what it leaves in memory is a product."""
    bench = calibration._Bench(calibration._TURN)
    steps, rows = 32, calibration.kernels.ROWS
    x, y, z = (memory.array for memory in bench._memory)
    starts = [(-array.ctypes.data % 4096) // 4 for array in (x, y, z)]
    sums = [y[starts[1] + 16 * number :].copy() for number in range(rows * calibration.kernels.TILE_VECTORS)]
    lanes = bench._vector_bytes // 4
    pitch = calibration.kernels.STREAMS // 4
    bench._time("tile", steps, 0, 4 * pitch, times=1)
    b = np.stack([x[starts[0] + step * pitch :][: 2 * lanes] for step in range(steps)]).astype(np.float64)
    for row in range(rows):
        a = y[starts[1] + row * (steps + 16) :][:steps].astype(np.float64)
        for column in range(calibration.kernels.TILE_VECTORS):
            number = row * calibration.kernels.TILE_VECTORS + column
            part = b[:, : (column + 1) * lanes][:, column * lanes :]
            if part.shape[1] < lanes:
                continue
            got = z[starts[2] + 16 * number :][:lanes]
            np.testing.assert_allclose(got, sums[number][:lanes] + a @ part, rtol=1e-5)


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_kernels_of_other_machines_are_lowered(bits):
    """Tile registers and all: what this CPU has no instructions for is not run."""
    dots = bits == 512
    text = calibration.kernels.module_text(bits, 3, bf16=dots, int8=dots, tiles=dots, threads=True)
    with ir.Context():
        module = ir.Module.parse(text)
        passes.run(module, "xetile-lower-to-cpu")
    lowered = str(module)
    for name in ("multiply_add", "tile", "read", "copy", "write", "fork"):
        assert f"@{name}(" in lowered
    if dots:
        assert lowered.count("llvm.x86.tdpbf16ps") == calibration.kernels.TILE_PRODUCTS
        assert lowered.count("llvm.x86.tdpbssd") == calibration.kernels.TILE_PRODUCTS
        assert lowered.count("dpbf16ps.512") == lowered.count("vpdpbusd.512") == calibration.kernels.SUMS


@pytest.mark.parametrize("value", [1e-4, 2e9, float("inf"), float("nan"), 5, True, "1.0", None])
def test_rates_are_floats_that_the_compiler_takes(value):
    with pytest.raises(XeTileError, match=r"fork_ns: expected 0\.001 to 1000000000 ns, got "):
        calibration._checked({"multiply_add_ns": 0.5, "fork_ns": value})
    assert calibration._checked({"fork_ns": 1e9, "copy_l2_ns": 1e-3}) == {"fork_ns": 1e9, "copy_l2_ns": 1e-3}
