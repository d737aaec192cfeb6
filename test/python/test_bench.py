# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `make bench` compares can be compared: its figures are nobody's test."""

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import xetile
import xetile.cpu

BENCH = Path(__file__).parents[1] / "bench"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    for name in ("run", "plain_emulation"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import plain_emulation
    import run

    yield run, plain_emulation
    for name in ("run", "plain_emulation"):
        sys.modules.pop(name, None)


def test_plain_emulation_knows_all_that_the_kernel_calls(bench):
    run, plain_emulation = bench
    names = plain_emulation.imports(run.compiled(256).spirv)
    assert any("block_read" in name for name in names) and any("matrix_mad" in name for name in names)
    for name in names:
        assert name in plain_emulation.builtin(name)


def test_plain_emulation_refuses_functions_of_intels_library(bench):
    _, plain_emulation = bench
    spirv = xetile.compile(xetile.matmul(256, 256, 256), native="off").spirv
    with pytest.raises(SystemExit, match="no plain version of __builtin_IB_subgroup"):
        plain_emulation.imports(spirv)


def test_without_pytorch_layers_are_left_out_in_one_line(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCH))
    import fused_mlp

    monkeypatch.setattr(fused_mlp.deep_tile.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["fused_mlp.py"])
    assert fused_mlp.main() == 0
    said = capsys.readouterr().out.strip()
    assert "\n" not in said and "layers of an MLP" in said and "pip install 'xetile[torch]'" in said


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("form", ["erf", "tanh"])
def test_layers_of_the_bench_are_what_it_compares_them_with(monkeypatch, dtype, form):
    monkeypatch.syspath_prepend(str(BENCH))
    import deep_tile
    import fused_mlp
    import numpy as np

    kernel = xetile.cpu.compile(fused_mlp.module((5, 70, 33), dtype, form), threads=1)
    arrays = [deep_tile.draw(np.random.default_rng(1), spec) for spec in kernel.arguments]
    right = fused_mlp.expected(*arrays, form)
    error = np.abs(kernel(*arrays).astype("f8") - right).max() / np.abs(right).max()
    assert error < fused_mlp.ERRORS[dtype]


def test_summary_tells_whether_limits_are_reached(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    from deep_tile import summary

    assert summary([2.0, 0.5], {}) == ("geometric mean of 2 rows 1.000, worst 0.50", True)
    assert summary([2.0, 0.5], {"mean": 1.0, "rows": 0.5})[1]
    line, reached = summary([2.0, 0.5], {"mean": 1.0, "rows": 0.9})
    assert not reached and line.endswith("(BELOW mean 1.00, rows 0.90)")


def test_small_sizes_and_large_ones_are_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import deep_tile
    import small_sizes

    # Beside NumPy, without peers that may be there or not.
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(deep_tile, "peak", lambda dtype: 1.0)
    monkeypatch.setattr(
        deep_tile, "take_turns", lambda sides, *_: {name: call() is None or 1.0 for name, call in sides.items()}
    )
    (small,) = small_sizes.measure(["f32"], [(1, 8, 9, 10)], 1)
    assert {"call", "xetile", small["peer"]} <= small["seconds"].keys()
    (large,) = deep_tile.measure(1, ["f32"], [(1, 8, 9, 10)], 1)
    assert large["ratio"] == 1
    # A second was measured, as it was said.
    assert large["us"] == 1e6 and 0 < large["predicted"] < 1e3


def test_predictions_are_judged_by_their_mean_factor(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCH))
    import deep_tile

    def row(predicted):
        return {
            "size": (1, 8, 8, 8), "dtype": "f32", "threads": 1, "gflops": {"xetile": 2.0, "numpy": 1.0},
            "peer": "numpy", "ratio": 2.0, "peak": 0.0, "us": 10.0, "predicted": predicted,
        }  # fmt: skip

    assert deep_tile.report([row(5.0), row(12.0)]) is False
    assert "off by a factor of 1.55 in the mean, 2.00 at most (MISSES 1.3)" in capsys.readouterr().out
    assert deep_tile.report([row(8.0), row(12.0)]) is True


def test_regret_is_that_of_the_chosen_configuration(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(BENCH))
    import regret

    monkeypatch.setenv("XETILE_CACHE", str(tmp_path))
    monkeypatch.setattr(regret, "best_times", lambda kernels, *_: [3.0, 2.0, *range(4, 2 + len(kernels))])
    monkeypatch.setattr(sys, "argv", ["regret.py", "--rows", "8x9x10", "--configurations", "2", "--strict"])
    assert regret.main() == 1
    assert "worst 1.50 (ABOVE" in capsys.readouterr().out


DEVICE = Path(__file__).parents[1] / "device"


def test_shapes_of_the_cpu_bench_are_drawn_anew_from_a_seed(monkeypatch):
    monkeypatch.syspath_prepend(str(DEVICE))
    import cpu_bench

    shapes = cpu_bench.random_shapes(30, seed=7)
    assert shapes == cpu_bench.random_shapes(30, seed=7) != cpu_bench.random_shapes(30, seed=8)
    # Two of three are multiples of 16.
    assert all(size % 16 == 0 for number, shape in enumerate(shapes) if number % 3 for size in shape)
    assert any(size % 16 for shape in shapes[::3] for size in shape)


def test_cpu_bench_measures_what_it_compiled(monkeypatch, capsys, tmp_path):
    """Two sides of our own, a row that does not compile, all in processes of their own."""
    monkeypatch.syspath_prepend(str(DEVICE))
    import cpu_bench

    monkeypatch.setattr(sys, "argv", [
        "cpu_bench.py", "--threads", "1", "--types", "f32", "--shapes", "13x20x30", "--parts", "matmuls",
        "--seconds", "60", "--json", str(tmp_path / "rows.json"),
        "--variants", '{"never": {"pack": "never"}, "more": {"MThreads": 2}}',
    ])  # fmt: skip
    assert cpu_bench.main() == 0
    (row,) = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert {"xetile", "drawn never", "numpy"} <= set(row["us"])
    assert "MThreads" in row["failed"]["drawn more"]
    printed = capsys.readouterr().out
    assert "f32, 1 threads" in printed and "13x20x30" in printed and "regret" in printed
    assert re.search(r"\| ratios \| 1 threads \|\n.*\n\| f32: mean, worst \| .* \(13x20x30\) \|", printed)


def test_sides_of_the_cpu_bench_run_on_the_same_cores(monkeypatch):
    """The fastest ones, by all passes; no thread of the process is left elsewhere."""
    monkeypatch.syspath_prepend(str(DEVICE))
    import quiet_cores

    bound: list[tuple[int, set[int]]] = []
    monkeypatch.setattr(quiet_cores.os, "sched_getaffinity", lambda task: {3, 5, 8})
    monkeypatch.setattr(quiet_cores.os, "sched_setaffinity", lambda task, cores: bound.append((task, set(cores))))
    # Of cores 3, 5 and 8 in each pass: somebody is on 8 in the second one.
    seconds = iter([3.0, 2.0, 1.0, 3.0, 2.0, 5.0])
    monkeypatch.setattr(quiet_cores, "seconds_of_product", lambda *arrays: next(seconds))
    assert quiet_cores.rank_cores(passes=2) == [5, 3, 8]
    assert bound == [(0, {3}), (0, {5}), (0, {8})] * 2 + [(0, {3, 5, 8})]
    bound.clear()
    started, end = threading.Barrier(2), threading.Event()
    other = threading.Thread(target=lambda: (started.wait(), end.wait()))
    other.start()
    started.wait()
    quiet_cores.stay_on([5, 8])
    end.set()
    other.join()
    assert {threading.get_native_id(), other.native_id} <= {task for task, _ in bound}
    assert all(cores == {5, 8} for _, cores in bound)


def test_a_library_of_the_cpu_bench_does_all_rows_in_its_turn(monkeypatch):
    """Threads of the one before would share its cores, and to wait for them takes longer than to measure."""
    monkeypatch.syspath_prepend(str(DEVICE))
    import cpu_bench

    called: list[str] = []

    def side(name: str):
        return lambda: called.append(name)

    monkeypatch.setattr(cpu_bench, "WARM_SECONDS", 0)
    waits: list[int] = []
    monkeypatch.setattr(cpu_bench.time, "sleep", lambda seconds: waits.append(len(called)))
    rows = [{name: side(f"{row} {name}") for name in ("eager", "xetile", "inductor")} for row in range(2)]
    times = cpu_bench.rounds_of(rows, threads=2, rounds=2, seconds=1e-6)
    assert [{name: len(bests) for name, bests in row.items()} for row in times] == 2 * [
        {"eager": 2, "xetile": 2, "inductor": 2}
    ]
    turns = list(dict.fromkeys(called[waits[0] : waits[1]]))
    assert turns == ["0 eager", "0 inductor", "1 eager", "1 inductor"]
    assert len(waits) == 4


def test_sides_of_one_thread_take_turns_row_by_row(monkeypatch):
    """Who shares the core changes within a second: sides that are seconds apart would be compared by that."""
    monkeypatch.syspath_prepend(str(DEVICE))
    import cpu_bench

    called: list[str] = []

    def side(name: str):
        return lambda: called.append(name)

    monkeypatch.setattr(cpu_bench.time, "sleep", lambda seconds: pytest.fail("no thread spins"))
    rows = [{name: side(f"{row} {name}") for name in ("torch", "xetile")} for row in range(2)]
    times = cpu_bench.rounds_of(rows, threads=1, rounds=2, seconds=1e-9)
    parts = 2 * cpu_bench.PARTS_OF_ROUND
    assert [{name: len(bests) for name, bests in row.items()} for row in times] == 2 * [
        {"torch": parts, "xetile": parts}
    ]
    turns = ["torch", "xetile", "xetile", "torch"] * (parts // 2)
    # Each turn has a first call that is not counted.
    assert called[4:] == [f"{row} {name}" for row in range(2) for turn in turns for name in (turn, turn)]


LOOP = """
//.kernel "gemm"
//.spill size 0
// numGRF=256
        mov (1|M0)               r10.5<1>:d    0:w                                  //  ALU pipe: int;
_loop:
        load_block2d.ugm.d16.a64.ca.ca (1|M0)  r20:8  [r10:1]           {$1} // ex_desc:0x0
        dpas.8x8 (16|M0)         r40:f         r40:f             r60:hf            r20.0:hf         {Atomic,$1.dst} //
        dpas.8x8 (16|M0)         r48:f         r48:f             r60:hf            r20.0:hf         {$2} //
        add (1|M0)               r10.5<1>:d    r10.5<0;1,0>:d    32:w              {I@1}    //  ALU pipe: int;
(W&f0.0) jmpi                    _loop                                                //  ALU pipe: int;
        send.gtwy (1|M0)         null r255 null:0 0x0 0x02000010 {EOT,F@1,$20} // end of thread
"""


@pytest.fixture
def predict(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH / "predict"))
    import caches
    import program
    import simulation

    return program, simulation, caches


def test_the_hot_loop_is_read_with_what_its_instructions_wait_for(predict):
    program, _, _ = predict
    read = program.Program(LOOP)
    assert [each.base for each in read.loop] == ["load_block2d", "dpas", "dpas", "add", "jmpi"]
    load, first, *_ = read.loop
    assert (load.kind, load.message, load.bytes, load.token) == ("message", "load", 512, 1)
    assert first.waits == [("dst", 1)] and first.atomic and first.flops == 2 * 8 * 16 * 16
    assert read.registers == 256


def test_a_prediction_is_below_the_peak_and_grows_with_what_a_turn_computes(predict):
    _, simulation, caches = predict
    flops = 2.0 * 2 * 2048 * 1000 * 8 * 640
    launch = caches.Launch((640, 1, 1), 8, 1000, flops)
    both = simulation.predict(LOOP, "bmg", launch)
    second = next(line for line in LOOP.splitlines() if "r48:f" in line)
    one = simulation.predict(LOOP.replace(second, ""), "bmg", caches.Launch((640, 1, 1), 8, 1000, flops / 2))
    assert 0 < one < both < 116.7


def test_loops_that_the_compiler_unrolled_take_fewer_turns(predict):
    _, simulation, caches = predict
    flops = 2.0 * 2 * 2048 * 1000 * 8 * 640
    whole = simulation.predict(LOOP, "pvc1100", caches.Launch((640, 1, 1), 8, 1000, flops))
    twice = simulation.predict(LOOP, "pvc1100", caches.Launch((640, 1, 1), 8, 2000, flops))
    assert twice == pytest.approx(whole)


def test_models_of_the_cpu_bench_that_compile_for_too_long_are_told(capsys, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(DEVICE))
    import cpu_bench

    (tmp_path / "models-1.log").touch()
    models = cpu_bench.Models([], [], "", tmp_path, end=time.time() - 20)
    pipe = subprocess.PIPE
    models.processes = {1: subprocess.Popen(["sleep", "60"], stdin=pipe, stdout=pipe, text=True)}
    models.wait_until_compiled()
    assert models.measure() == []
    assert "models with 1 threads ended early: its time was up: give --seconds more" in capsys.readouterr().out
