# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The harness finds what a kind does wrong, reduces it, and goes on."""

import multiprocessing
import os
import re
import time
from collections.abc import Iterator
from typing import Any

import harness
import ir_mutations
import pytest
import subgroup_functions


class Numbers:
    """Cases are lists of numbers; what `break_` does with a list that has a 7 in it is the fault."""

    name = "numbers"
    time_limit = 10.0
    memory = 256 << 20

    def __init__(self, break_: Any) -> None:
        self.break_ = break_

    def prepare(self) -> None:
        pass

    def generate(self, rng) -> list[int]:
        return [rng.randrange(10) for _ in range(6)]

    def check(self, case: list[int]) -> str | None:
        harness.count("checked")
        return self.break_(case) if 7 in case else None

    def reduced(self, case: list[int]) -> Iterator[list[int]]:
        for place in range(len(case)):
            yield case[:place] + case[place + 1 :]

    def describe(self, case: list[int]) -> str:
        return f"numbers={case}"


def run(kind: Any, n: int = 20, **arguments: Any) -> tuple[int, str]:
    said: list[str] = []
    status = harness.run([kind], n, 1, 2, say=said.append, **arguments)
    return status, "\n".join(said)


def crash(_: list[int]) -> None:
    os.write(2, b"Assertion `seven' failed\n")
    os.abort()


def hang(_: list[int]) -> None:
    time.sleep(60)


def exhaust(_: list[int]) -> None:
    hoard = []
    while True:
        hoard.append(bytearray(16 << 20))


def throw(_: list[int]) -> None:
    raise KeyError("seven")


def tell(case: list[int]) -> str:
    return f"sum {sum(case)} is odd\nmore of this case"


@pytest.mark.parametrize(
    ("break_", "expected"),
    [
        (crash, "the process died by SIGABRT"),
        (hang, "the process takes longer than 0.4 s"),
        (exhaust, "MemoryError"),
        (throw, "KeyError: 'seven'"),
        (tell, "sum # is odd"),
        (lambda _: os._exit(3), "the process exited with status 3"),
    ],
)
def test_every_way_to_break_is_found_once_and_reduced(break_, expected):
    kind = Numbers(break_)
    if break_ is hang:
        kind.time_limit = 0.4
    status, said = run(kind, n=4 if break_ is hang else 20)
    assert status == 1
    assert re.sub(r"sum \d+", "sum #", said).count("numbers, seed 1, case") == 1, said
    assert expected in re.sub(r"sum \d+", "sum #", said)
    assert "numbers=[7]" in said
    assert "1 findings" in said.splitlines()[-1]


def test_a_process_that_gets_on_slowly_does_not_hang(monkeypatch):
    """As one that others leave little time: asleep whenever the watch looks at it."""
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))

    def crawl(_: list[int]) -> None:
        for _ in range(15):
            end = time.process_time() + 0.011
            while time.process_time() < end:
                pass
            time.sleep(0.1)

    kind = Numbers(crawl)
    kind.time_limit = 0.5
    index = next(i for i in range(99) if 7 in kind.generate(harness.case_rng(1, "numbers", i)))
    status, said = run(kind, indices=[index])
    assert status == 0, said


def test_a_case_that_is_slow_beside_others_only_is_no_finding(tmp_path):
    def hang_once(case: list[int]) -> None:
        if not (tmp_path / "seen").exists():
            (tmp_path / "seen").touch()
            hang(case)

    kind = Numbers(hang_once)
    kind.time_limit = 0.4
    index = next(i for i in range(99) if 7 in kind.generate(harness.case_rng(1, "numbers", i)))
    status, said = run(kind, indices=[index])
    assert (tmp_path / "seen").exists()
    assert (status, "0 findings" in said, "1 took longer beside other cases only" in said) == (0, True, True), said


def test_time_in_the_drivers_compiler_is_tallied():
    def compile_for_long(case: list[int]) -> None:
        os.write(2, b"PLEASE submit a bug report to https://software.intel.com\n1. Running pass 'Register Coalescer'\n")
        hang(case)

    kind = Numbers(compile_for_long)
    kind.time_limit = 0.4
    index = next(i for i in range(99) if 7 in kind.generate(harness.case_rng(1, "numbers", i)))
    status, said = run(kind, indices=[index])
    assert (status, "1 took longer in the OpenCL driver's compiler" in said) == (0, True), said


def test_what_a_dead_process_said_is_shown():
    assert "Assertion `seven' failed" in run(Numbers(crash))[1]


def test_cases_after_a_crash_are_checked_and_counted():
    status, said = run(Numbers(crash), n=50)
    assert re.search(r"numbers: 50 cases, 1 findings \(seed 1, \d+ checked, \d+ more like these", said)
    broken = {index for index in range(50) if 7 in Numbers(crash).generate(harness.case_rng(1, "numbers", index))}
    first = int(re.search(r"numbers, seed 1, case (\d+)", said)[1])
    more = re.search(r"more cases end like this: (.*)", said)[1]
    assert {first, *map(int, re.findall(r"--index (\d+)", more))} == broken


def test_no_case_is_begun_after_its_seconds():
    kind = Numbers(lambda _: time.sleep(0.05))
    status, said = run(kind, n=100_000, seconds=0.5)
    checked = int(re.search(r"numbers: (\d+) cases", said)[1])
    assert (status, 2 <= checked < 100_000) == (0, True), said


def test_no_finding_is_success():
    status, said = run(Numbers(lambda _: None))
    assert status == 0
    assert said.startswith("numbers: 20 cases, 0 findings (seed 1, 20 checked")


def test_a_case_depends_on_seed_kind_and_index_alone():
    first = [Numbers(tell).generate(harness.case_rng(1, "numbers", index)) for index in (5, 6)]
    assert first == [Numbers(tell).generate(harness.case_rng(1, "numbers", index)) for index in (5, 6)]
    assert first[0] != first[1] != Numbers(tell).generate(harness.case_rng(2, "numbers", 6))
    index = next(i for i in range(99) if 7 in Numbers(tell).generate(harness.case_rng(1, "numbers", i)))
    status, said = run(Numbers(tell), indices=[index])
    assert (status, f"case {index}:" in said) == (1, True)


def test_a_finding_that_does_not_come_again_says_so(tmp_path):
    mark = tmp_path / "mark"

    def once(_: list[int]) -> str | None:
        if mark.exists():
            return None
        mark.touch()
        return "only once"

    status, said = run(Numbers(once))
    assert (status, "flaky: the case passes alone" in said) == (1, True)


def test_slow_growth_replaces_the_worker_and_is_no_finding():
    hoard = []

    def grow(_: list[int]) -> None:
        hoard.append(bytearray(40 << 20))

    status, said = run(Numbers(grow), n=60)
    assert status == 0
    assert re.search(r"[1-9]\d* workers replaced as they grew", said)


def test_children_of_a_worker_die_with_it(tmp_path):
    def start_child(_: list[int]) -> None:
        if not os.fork():
            os.execvp("sleep", ["sleep", "987654"])
        time.sleep(60)

    kind = Numbers(start_child)
    kind.time_limit = 0.4
    index = next(i for i in range(99) if 7 in kind.generate(harness.case_rng(1, "numbers", i)))
    run(kind, indices=[index], reduce=False)
    running = [path for path in os.listdir("/proc") if path.isdigit()]
    commands = []
    for process in running:
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                commands.append(file.read())
        except OSError:
            continue
    assert b"sleep\x00987654\x00" not in commands


def test_a_kind_that_cannot_start_is_an_error_not_a_finding():
    class Broken(Numbers):
        def prepare(self) -> None:
            raise OSError("no device")

    with pytest.raises(RuntimeError, match="'numbers' cannot start:(.|\n)*no device"):
        run(Broken(tell))


TRACE = """stage upstream: parse
 #0 0x1 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/lib/libLLVM.so.22.1+0x1)
{inner}
 #4 0x5 xetile::TileUnpackOp::parse(mlir::OpAsmParser&, mlir::OperationState&) (/lib/libXeTilePythonCAPI.so+0x5)
 #5 0x6 mlir::detail::Parser::parseOperation() (/lib/libMLIR.so.22.1+0x6)
"""
IN_UPSTREAM = " #3 0x4 mlir::detail::Parser::parseDenseArrayAttr(mlir::Type) (/lib/libMLIR.so.22.1+0x4)"


@pytest.mark.parametrize(
    ("inner", "stage", "reason"),
    [
        (IN_UPSTREAM, "upstream: parse", "died in upstream's parser, verifiers or printers"),
        (IN_UPSTREAM, "ours: xetile-wg-to-sg", None),
        (" #3 0x4 mlir::Type::getWidth() const (/lib/libMLIR.so.22.1+0x4)", "upstream: parse", None),
    ],
    ids=["parser of attributes", "in a pass of ours", "called by our parser"],
)
def test_a_death_in_upstreams_parser_is_no_finding(inner, stage, reason):
    log = TRACE.format(inner=inner).replace("upstream: parse", stage)
    assert ir_mutations.KIND.excuse("the process died by SIGSEGV", log) == reason


DRIVER = """**Internal compiler error** Cannot emit physreg copy instruction
Please report the issue on Intel OpenCL forum
https://software.intel.com/en-us/forums/opencl for assistance.
"""


@pytest.mark.parametrize(
    ("log", "reason"),
    [(DRIVER, "died in the OpenCL driver's compiler"), (TRACE.format(inner=IN_UPSTREAM), None), ("", None)],
    ids=["the driver's own error", "a crash in MLIR", "nothing said"],
)
def test_a_death_in_the_drivers_compiler_is_no_finding(log, reason):
    assert subgroup_functions.KIND.excuse("the process died by SIGABRT", log) == reason


def test_workers_die_with_the_parent(tmp_path):
    mark = tmp_path / "worker"

    def tell_and_hang(_: list[int]) -> None:
        mark.write_text(str(os.getpid()))
        time.sleep(600)

    parent = multiprocessing.get_context("fork").Process(target=run, args=(Numbers(tell_and_hang),))
    parent.start()
    while not (mark.exists() and mark.read_text()):
        time.sleep(0.05)
    parent.kill()
    parent.join()
    for _ in range(200):
        if not os.path.exists(f"/proc/{mark.read_text()}/cwd"):
            return
        time.sleep(0.05)
    pytest.fail("the worker lives on")


@pytest.mark.parametrize(
    ("said", "theirs"),
    [
        ("'linalg.depthwise_conv_2d_nchw_chw' op inferred input/output operand #0 has shape's dimension", True),
        ("custom op 'tensor.pad' expected a region", True),
        ("'xetile.tile_mma' op expected ..", False),
        ("custom op 'transform.xetile.pipeline' expected '='", False),
        ("expected ']'", False),
    ],
)
def test_text_that_does_not_parse_is_upstreams_if_its_op_is(said, theirs):
    assert ir_mutations.is_of_upstreams_op(f"the input, printed in form, does not parse: {said}\n..") == theirs


@pytest.mark.parametrize(
    ("user", "ours"),
    [
        ("xetile.tile_transpose %0, [1, 0] : vector<4x8xf32> -> vector<8x4xf32>", True),
        ("vector.transpose %0, [1, 0] : vector<4x8xf32> to vector<8x4xf32>", False),
    ],
)
def test_values_of_two_types_are_upstreams_if_no_line_told_of_has_an_op_of_ours(user, ours):
    from xetile.mlir import ir

    text = f"""func.func @xetile() {{
      %0 = ub.poison : vector<8x8xf32>
      %1 = {user}
      return
    }}"""
    with ir.Context(), pytest.raises(ir.MLIRError, match="different type") as error:
        ir.Module.parse(text)
    assert ir_mutations._names_our_op(error.value, text) == ours
