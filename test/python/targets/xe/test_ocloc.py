# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ocloc in every bad mood, played by scripts: what it prints, how long it takes, what it leaves, who kills whom."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import xetile
from xetile import XeTileError, report
from xetile.system import tools

# Where the arguments say that the result goes; ocloc appends .bin.
OUTPUT = 'while [ "$1" != -output ]; do shift; done; out=$2.bin; '


# Parameters of a tiling whose kernel needs no large register file.
FITS = {"workgroup_m": 64, "workgroup_n": 64, "subgroups_m": 4, "subgroups_n": 4}


@pytest.fixture(scope="module")
def payload() -> object:
    return xetile.matmul(256, 256, 256)


@pytest.fixture(scope="module")
def kernel(payload) -> xetile.Kernel:
    return xetile.compile(payload, native="require")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Where temporary files go."""
    place = tmp_path / "temporary files"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    return place


@pytest.fixture
def play(tmp_path, monkeypatch) -> Callable[[str], Path]:
    """Puts a shell script into ocloc's place."""

    def put(script: str, shell: str = "/bin/sh") -> Path:
        path = tmp_path / "ocloc"
        path.write_text(f"#!{shell}\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("XETILE_OCLOC", str(path))
        return path

    return put


def refuse_both(payload, kernel, message: str) -> str:
    """The compiler's pass and the report run the same code; the message of the first."""
    with pytest.raises(XeTileError, match=message):
        report.statistics(kernel.spirv, "pvc")
    with pytest.raises(XeTileError, match=message) as error:
        xetile.compile(payload, native="require")
    return str(error.value)


def test_a_log_that_is_not_utf8_is_shown(payload, kernel, folder, play):
    play(r"printf 'caf\351 \377\000 na\303\257ve\033[1m'; exit 3")
    refuse_both(payload, kernel, r"ocloc failed for device pvc \(status 3\)\n *caf\\xe9 \\xff\\x00 naïve\\x1b\[1m")
    assert list(folder.iterdir()) == []


def test_of_a_long_log_the_end_is_shown(payload, kernel, folder, play):
    play("yes 'the same line' | head -100000; echo the end; exit 1")
    message = refuse_both(payload, kernel, r"(?s)\.\.\. \(\d+ bytes before\).*the end")
    assert len(message) < 30000


def test_a_program_killed_by_a_signal_is_told(payload, kernel, folder, play):
    play("echo last words; kill -SEGV $$")
    refuse_both(payload, kernel, r"\(killed by signal 11\)\n *last words")


def test_what_cannot_be_started_is_told(payload, kernel, folder, play):
    play("", shell="/nowhere/sh")
    refuse_both(payload, kernel, r"\(it cannot be started: No such file or directory\)")


def is_running(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# Tells its number and that of a process it started, and takes long.
SLOW = 'sleep 1000 & echo $$ $! > "{pids}.new"; mv "{pids}.new" "{pids}"; wait'


def test_the_time_limit_ends_all_of_it(payload, kernel, folder, play, tmp_path, monkeypatch):
    pids = tmp_path / "pids"
    play(SLOW.format(pids=pids))
    monkeypatch.setenv("XETILE_OCLOC_TIMEOUT", "1")
    refuse_both(payload, kernel, r"\(no end after 1 s\); XETILE_OCLOC_TIMEOUT sets the limit")
    for pid in map(int, pids.read_text().split()):
        wait_for(lambda pid=pid: not is_running(pid))
    assert list(folder.iterdir()) == []


@pytest.fixture
def ocloc() -> Path:
    """The real one, before another takes its place."""
    return tools.require_ocloc()


def count_runs(spirv: bytes, ocloc: Path, play, tmp_path, large: bool | None) -> int:
    """How often ocloc runs for a report."""
    log = tmp_path / "runs"
    play(f'echo run >> "{log}"; exec "{ocloc}" "$@"')
    report.statistics(spirv, "pvc", large)
    return len(log.read_text().split())


@pytest.mark.parametrize("large", [None, True, False])
def test_what_does_not_spill_is_compiled_once(ocloc, play, tmp_path, large):
    small = xetile.compile(xetile.matmul(64, 64, 64), params=FITS, native="off")
    assert count_runs(small.spirv, ocloc, play, tmp_path, large) == 1


def test_what_is_known_to_spill_is_compiled_with_large_registers_at_once(ocloc, play, tmp_path):
    log = tmp_path / "runs"
    play(f'echo "$@" >> "{log}"; exec "{ocloc}" "$@"')
    kernel = xetile.compile(xetile.matmul(1024, 1024, 1024), native="require")
    assert (kernel.native["pvc"].registers, kernel.native["pvc"].spill_bytes) == (256, 0)
    assert len(log.read_text().splitlines()) == 1
    assert "large-register-file" in log.read_text()


# Hands on what it is asked for but more registers.
FORGETFUL = """for word; do
  shift
  case "$word" in -options | -ze-opt-large-register-file) ;; *) set -- "$@" "$word" ;; esac
done
exec "{ocloc}" "$@"
"""


def test_what_spills_is_compiled_twice_and_the_small_registers_stay_where_others_do_not_help(ocloc, play, tmp_path):
    spilling = xetile.compile(xetile.matmul(1024, 1024, 1024), native="off").spirv
    assert count_runs(spilling, ocloc, play, tmp_path, None) == 2
    play(FORGETFUL.format(ocloc=ocloc))
    (code,) = report.statistics(spilling, "pvc")
    assert code.registers == 128
    assert code.spill_bytes > 0


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "soon", "9" * 30])
def test_time_limits_that_are_none_are_refused(payload, kernel, folder, monkeypatch, limit):
    monkeypatch.setenv("XETILE_OCLOC_TIMEOUT", limit)
    refuse_both(payload, kernel, f"XETILE_OCLOC_TIMEOUT is '{limit}', expected seconds from 1 to 1000000")


def start(kernel, tmp_path, play) -> tuple[subprocess.Popen, list[int]]:
    """`xetile report` in a session of its own, and what it runs."""
    pids = tmp_path / "pids"
    play(SLOW.format(pids=pids))
    spirv = tmp_path / "kernel.spv"
    spirv.write_bytes(kernel.spirv)
    process = subprocess.Popen(
        [sys.executable, "-m", "xetile.cli", "report", spirv, "--device", "pvc"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_for(pids.exists)
    return process, list(map(int, pids.read_text().split()))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_killed_parent_takes_it_along(kernel, folder, play, tmp_path, number):
    process, started = start(kernel, tmp_path, play)
    assert all(map(is_running, started))
    assert list(folder.iterdir()) != []
    process.send_signal(number)
    assert process.wait(timeout=60) == -number
    wait_for(lambda: not any(map(is_running, started)))
    wait_for(lambda: list(folder.iterdir()) == [])


def test_ctrl_c_is_a_status_and_leaves_nothing(kernel, folder, play, tmp_path):
    process, started = start(kernel, tmp_path, play)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert not any(map(is_running, started))
    assert list(folder.iterdir()) == []


def test_folders_of_killed_processes_are_removed_and_others_stay(kernel, folder):
    """In a process of its own: the first run of a process looks for them."""
    for name in ("xetile-ocloc-stale", "xetile-ocloc-locked", "xetile-ocloc-new", "other"):
        (folder / name).mkdir()
        (folder / name / "kernel.spv").write_bytes(b"")
        if name != "xetile-ocloc-new":
            os.utime(folder / name, (0, 0))
    (folder / "xetile-ocloc-link").symlink_to(folder / "other")
    (folder / "kernel").write_bytes(kernel.spirv)
    lock = os.open(folder / "xetile-ocloc-locked", os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(
            [sys.executable, "-m", "xetile.cli", "report", folder / "kernel", "--device", "pvc"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    finally:
        os.close(lock)
    left = {path.name for path in folder.iterdir()}
    assert left == {"xetile-ocloc-locked", "xetile-ocloc-new", "xetile-ocloc-link", "other", "kernel"}
    assert (folder / "other" / "kernel.spv").exists()


def test_a_folder_that_cannot_be_made_is_told(payload, kernel, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    refuse_both(payload, kernel, r"cannot make a temporary folder in .*gone \(TMPDIR\): No such file or directory")


def test_a_relative_path_is_one_of_this_directory(payload, kernel, folder, play, tmp_path, monkeypatch):
    real = tools.find_ocloc()
    play(f'exec "{real}" "$@"')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XETILE_OCLOC", "./ocloc")
    assert tools.find_ocloc() == Path(os.path.realpath(tmp_path), "./ocloc")
    (counted,) = report.statistics(kernel.spirv, "pvc")
    (code,) = xetile.compile(payload, native="require").native.values()
    assert counted.binary_bytes == len(code.data)
    monkeypatch.setenv("XETILE_OCLOC", "")
    monkeypatch.setenv("PATH", ".", prepend=os.pathsep)
    assert tools.find_ocloc().is_absolute()


@pytest.mark.parametrize("kind", ["directory", "fifo", "not executable"])
def test_what_is_no_program_is_not_found(payload, kernel, tmp_path, monkeypatch, kind):
    place = tmp_path / "ocloc"
    if kind == "directory":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place, 0o777)
    else:
        place.write_text("#!/bin/sh\n")
    monkeypatch.setenv("XETILE_OCLOC", str(place))
    assert tools.find_ocloc() is None
    refuse_both(payload, kernel, rf"ocloc was not found at '{place}' \(XETILE_OCLOC\): run scripts/install-ocloc")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("nothing", r"\(status 0, but it wrote nothing\)"),
        ("empty", r"\(status 0, but it wrote nothing\)"),
        ("text", "machine code for device pvc cannot be used: it is not an ELF file"),
        ("magic", "cannot be used: "),
        ("cut", "cannot be used: its ELF file is damaged: "),
        ("flipped", "cannot be used: "),
        ("another machine's", r"cannot be used: it is for machine \d+, expected 205 \(Intel GPUs\)"),
        ("no description", r"cannot be used: it has no section .ze_info that lists kernels"),
    ],
)
def test_a_result_that_no_driver_loads_is_refused(payload, kernel, folder, play, tmp_path, what, message):
    good = kernel.native["pvc"].data
    result = tmp_path / "result"
    if what == "another machine's":
        result.write_bytes(Path(os.path.realpath(sys.executable)).read_bytes())
    elif what != "nothing":
        result.write_bytes(
            {
                "empty": b"",
                "text": b"garbage" * 100,
                "magic": b"\x7fELF" + b"garbage" * 100,
                "cut": good[: len(good) // 2],
                "flipped": good[:16] + bytes(byte ^ 0xFF for byte in good[16:]),
                "no description": good.replace(b".ze_info", b".ze_oops"),
            }[what]
        )
    play(OUTPUT + f'cp "{result}" "$out"; exit 0' if what != "nothing" else "exit 0")
    refuse_both(payload, kernel, message)


def test_machine_code_of_another_kernel_is_refused(kernel, folder, play, tmp_path):
    result = tmp_path / "result"
    result.write_bytes(kernel.native["pvc"].data)
    play(OUTPUT + f'cp "{result}" "$out"')
    with xetile.mlir.ir.Context():
        text = str(xetile.matmul(256, 256, 256)).replace("@matmul", "@another")
        module = xetile.mlir.ir.Module.parse(text)
    with pytest.raises(XeTileError, match="cannot be used: it has no code for the kernel 'another_kernel'"):
        xetile.compile(module, native="require")


def test_doctor_tells_the_time_limit():
    run = subprocess.run(
        [sys.executable, "-m", "xetile.cli", "doctor"],
        env=os.environ | {"XETILE_OCLOC_TIMEOUT": "77"},
        capture_output=True,
        text=True,
    )
    assert "at most 77 s for a kernel (XETILE_OCLOC_TIMEOUT)" in run.stdout
