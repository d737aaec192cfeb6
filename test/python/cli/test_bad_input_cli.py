# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `xetile` where files, streams and settings are hostile: one message and a status, nothing half done.

`REFUSED` has command lines and what is said; a line of it is a test. Files that the names stand for are made by the
fixture `place`.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from xetile.mlir import ir

MATMUL = """
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>)
                     outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
"""
LATIN1 = os.fsdecode(b"caf\xe9.mlir")
LIBM = "/lib/x86_64-linux-gnu/libm.so.6"
COMMAND = [sys.executable, "-m", "xetile.cli"]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with an input of every kind."""
    folder = tmp_path_factory.mktemp("inputs")
    with ir.Context():
        module = ir.Module.parse(MATMUL)
        with open(folder / "good.mlirbc", "wb") as file:
            module.operation.write_bytecode(file)
    bytecode = (folder / "good.mlirbc").read_bytes()
    for name, content in {
        "good.mlir": MATMUL.encode(),
        LATIN1: MATMUL.encode(),
        "-": MATMUL.encode(),
        "@good.mlir": MATMUL.encode(),
        os.fsdecode(b"bad\xe9.mlir"): b"func.func @f() {\n  bad\n}",
        "bad.mlir": b"func.func @f() {\n  bad\n}",
        "empty": b"",
        "binary": bytes(range(256)) * 16,
        "zeros": bytes(4096),
        "latin1.mlir": b'func.func @"caf\xe9"(%a: tensor<4xf32>) -> tensor<5xf32> { return %a : tensor<4xf32> }',
        "bytecode-head": bytecode[:4],
        "bytecode-cut": bytecode[: len(bytecode) // 2],
        "bytecode-flipped": bytecode[:40] + bytes(byte ^ 0x55 for byte in bytecode[40:]),
        "bytecode-version": bytecode[:4] + b"\xff" * 9 + bytecode[5:],
        "library.so": b"not a library",
        "cut.spv": b"\x03\x02\x23\x07\x00",
        "unreadable": b"",
    }.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to("loop")
    (folder / "nowhere").symlink_to("gone")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(folder / "socket"))
    return folder


# Reads command lines, runs each in a child of its own, answers with its status; MLIR is loaded once.
SERVER = """
import json, os, signal, sys
from xetile import cli, compiler, cpu, layout, report, schedule
from xetile.layout import draw

for line in sys.stdin:
    job = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm(60)
        os.chdir(job["cwd"])
        os.environ.update(job["environment"])
        for name, number in (("/dev/null", 0), (job["stdout"], 1), (job["stderr"], 2)):
            os.dup2(os.open(name, os.O_RDWR), number)
        try:
            status = cli.main(job["arguments"])
        except SystemExit as exit:
            status = exit.code
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@functools.cache
def server() -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    return process


def xetile(
    *arguments: str | Path, cwd: Path, stdout: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
        job = {"arguments": list(map(str, arguments)), "cwd": str(cwd), "environment": environment}
        server().stdin.write(json.dumps(job | {"stdout": stdout or out.name, "stderr": err.name}) + "\n")
        server().stdin.flush()
        status = int(server().stdout.readline())
        return subprocess.CompletedProcess(arguments, status, out.read(), err.read())


def fail(*arguments: str | Path, cwd: Path, **more) -> str:
    run = xetile(*arguments, cwd=cwd, **more)
    stderr = run.stderr.decode(errors="backslashreplace")
    assert run.returncode in (1, 2), stderr
    assert stderr.startswith("xetile: error: " if run.returncode == 1 else "usage: "), stderr
    assert "Traceback" not in stderr
    assert "internal error" not in stderr
    return stderr


INPUTS = {
    "folder": "expected a regular file, got a directory",
    "fifo": "expected a regular file, got a FIFO",
    "socket": "cannot read the module socket: No such device or address",
    "/dev/null": "expected a regular file, got a device",
    "/dev/full": "expected a regular file, got a device",
    "loop": "Too many levels of symbolic links",
    "nowhere": "there is no such file",
    "gone": "there is no such file",
    "": "expected the name of a file, got ''",
    "x" * 300: "File name too long",
    "good.mlir/x": "Not a directory",
    "bad.mlir": "bad.mlir:2:",
    os.fsdecode(b"bad\xe9.mlir"): "bad\\xe9.mlir:2:",
    "empty": "expected",
    "binary": "binary:1:",
    "zeros": "expected",
    "latin1.mlir": "latin1.mlir:1:",
    "bytecode-head": "bytecode",
    "bytecode-cut": "bytecode",
    "bytecode-flipped": "bytecode",
    "bytecode-version": "bytecode",
}


@pytest.mark.parametrize("name", INPUTS, ids=[os.fsencode(name).decode(errors="replace")[:20] for name in INPUTS])
@pytest.mark.parametrize("command", ["compile -o - --target cpu --emit llvm", "run", "explain"])
def test_inputs_that_are_no_modules_are_messages(place, command, name):
    verb, *rest = command.split()
    assert INPUTS[name] in fail(verb, name, *rest, cwd=place)


@pytest.mark.parametrize("name", ["folder", "fifo", "/dev/null", "loop", "gone", "binary", "bytecode-cut", "empty"])
def test_schedules_that_are_none_are_messages(place, name):
    message = fail("compile", "good.mlir", "-o", "-", "--schedule", name, cwd=place)
    assert name in message
    assert message == fail("schedules", name, cwd=place)


@pytest.mark.parametrize("name", ["folder", "fifo", "/dev/null", "loop", "gone", "binary", "cut.spv", "empty"])
def test_kernels_to_report_that_are_none_are_messages(place, name):
    assert "SPIR-V" in fail("report", name, "--device", "pvc", cwd=place)


@pytest.mark.parametrize("name", ["good.mlir", "good.mlirbc", LATIN1, "-", "@good.mlir"], ids=str.__repr__)
def test_files_have_any_name(place, name):
    run = xetile("compile", name, "-o", "-", "--target", "cpu", "--emit", "llvm", cwd=place)
    assert run.returncode == 0, run.stderr
    assert b"llvm.func" in run.stdout


SETTINGS: list[tuple[list[str], dict[str, str], str]] = [
    (["run", "good.mlir", "--seed", "-1"], {}, "argument --seed: expected 0 or a positive integer, got '-1'"),
    (["run", "good.mlir", "--seed", "x"], {}, "argument --seed: expected 0 or a positive integer, got 'x'"),
    (["run", "good.mlir", "--seed", "9" * 5000], {}, "argument --seed: expected 0 or a positive integer"),
    (["compile", "good.mlir", "-o", "-", "--target", "\udcff"], {}, "unknown chip"),
    (["compile", "good.mlir", "-o", "-", "--set", "k_step=" + "9" * 5000], {}, "expected an integer"),
    (["compile", "good.mlir", "-o", "-", "--set", "\udcff=1"], {}, "has no parameter"),
    (["run", "good.mlir", "--target", "cpu", "--set", "fuse=2"], {}, "expected true or false, got '2'"),
    (
        ["run", "good.mlir", "--target", "cpu"],
        {"XETILE_LIBOMP": "library.so"},
        "XETILE_LIBOMP=library.so: expected LLVM's OpenMP runtime (libomp.so.5), but it cannot be loaded",
    ),
    (["run", "good.mlir", "--target", "cpu"], {"XETILE_LIBOMP": "gone"}, "but there is no such file"),
    (["run", "good.mlir", "--target", "cpu"], {"XETILE_LIBOMP": "folder"}, "but there is no such file"),
    (["run", "good.mlir", "--target", "cpu"], {"XETILE_LIBOMP": "fifo"}, "but there is no such file"),
    (["run", "good.mlir", "--target", "cpu"], {"XETILE_LIBOMP": LIBM}, "it has no __kmpc_fork_call"),
    (["layout", "--dpas", "A", "--shape", "8x16", "--type", "\udcff"], {}, "unknown type"),
    (
        ["layout", "--shape", "999999999x999999999", "--sg-data", "1x1"],
        {},
        "sg_data cuts the shape into 999999998000000001 pieces, expected at most 65536",
    ),
    (
        ["layout", "--shape", "1x1", "--sg-data", "1x1", "--subgroups", "999999999x1"],
        {},
        "the pieces have 999999999 owners together, expected at most 1048576",
    ),
    (["layout", "--dpas", "A", "--shape", "65536x65536", "--type", "f16"], {}, "2^32 indices, expected at most 2^22"),
    (["layout", "--dpas", "C", "--shape", "4096x4096", "--type", "f32"], {}, "2^24 indices, expected at most 2^22"),
    (
        ["layout", "--dpas", "A", "--shape", "65536x65536", "--type", "f16", "--svg", "a.svg"],
        {},
        "elements together, expected at most 1048576 to draw",
    ),
    (["layout", "--shape", "128x128", "--sg-data", "1x1", "--svg", "a.svg"], {}, "16384 pieces, expected at most 4096"),
]


@pytest.mark.parametrize(("arguments", "environment", "message"), SETTINGS, ids=[row[2][:50] for row in SETTINGS])
def test_settings_that_are_none_are_messages(place, arguments, environment, message):
    if "XETILE_LIBOMP" in environment:
        # Looked at where threads are used.
        arguments = [*arguments, "--set", "threads=2"]
    assert message in fail(*arguments, cwd=place, **environment)


PRINTING = [
    ["compile", "good.mlir", "-o", "-", "--target", "cpu", "--emit", "llvm"],
    ["layout", "--dpas", "A", "--shape", "256x32", "--type", "f16"],
    ["layout", "--dpas", "A", "--shape", "256x32", "--type", "f16", "--hw-view"],
    ["layout", "--shape", "128x128", "--sg-data", "2x2"],
    ["run", "good.mlir", "--target", "cpu"],
    ["explain", "good.mlir"],
    ["schedules"],
    ["doctor"],
    ["--help"],
]
BY_VERB = [" ".join(arguments[:3]) for arguments in PRINTING]


@pytest.mark.parametrize("arguments", PRINTING, ids=BY_VERB)
def test_a_full_stdout_is_one_line(place, arguments):
    run = xetile(*arguments, cwd=place, stdout="/dev/full")
    assert run.stderr == b"xetile: error: cannot write to standard output: No space left on device\n"
    assert run.returncode == 1


@pytest.mark.parametrize("arguments", PRINTING[:6], ids=BY_VERB[:6])
def test_a_closed_stdout_is_one_line(place, arguments):
    run = subprocess.run(
        ["bash", "-c", '"$@" >&-', "bash", *COMMAND, *arguments], cwd=place, stderr=subprocess.PIPE, timeout=60
    )
    assert run.stderr == b"xetile: error: cannot write to standard output: it is closed\n"
    assert run.returncode == 1


def test_a_command_that_prints_nothing_needs_no_stdout(place, tmp_path):
    out = tmp_path / "k.so"
    script = f'"$@" -o {out} >&-'
    run = subprocess.run(
        ["bash", "-c", script, "bash", *COMMAND, "compile", "good.mlir", "--target", "cpu"],
        cwd=place,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert out.read_bytes()[:4] == b"\x7fELF"


@pytest.mark.parametrize("arguments", PRINTING[:4], ids=BY_VERB[:4])
def test_a_reader_that_leaves_is_no_message(place, arguments):
    """As with other programs in `| head -1`."""
    command = f"{' '.join([*COMMAND, *arguments])} | head -1; echo status ${{PIPESTATUS[0]}}"
    run = subprocess.run(["bash", "-c", command], cwd=place, capture_output=True, text=True, timeout=60)
    assert run.stderr == ""
    assert run.stdout.splitlines()[-1] in ("status 0", "status 1")


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full"])
def test_errors_that_no_one_can_read_are_a_status(place, stderr):
    command = f"{' '.join(COMMAND)} run gone {stderr}"
    run = subprocess.run(["bash", "-c", command], cwd=place, stdout=subprocess.PIPE, timeout=60)
    assert (run.returncode, run.stdout) == (1, b"")


OLD = b"the old file"
WRITING: dict[str, list[str]] = {
    "out.so": ["compile", "good.mlir", "--target", "cpu", "-o", "out.so"],
    "out.mlir": ["compile", "good.mlir", "--target", "cpu", "--emit", "llvm", "-o", "out.mlir"],
    "out.svg": ["layout", "--dpas", "A", "--shape", "32x32", "--type", "f16", "--svg", "out.svg"],
    "stages/3-llvm.mlir": ["compile", "good.mlir", "--target", "cpu", "-o", "/dev/null", "--dump-stages", "stages"],
}


def limit_files() -> None:
    """A full disk to any program: the object file fits on it, what is made of it does not."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12000, 12000))


@pytest.mark.parametrize("name", WRITING)
def test_without_space_the_old_file_stays(tmp_path, name):
    (tmp_path / "good.mlir").write_text(MATMUL)
    old = tmp_path / name
    old.parent.mkdir(exist_ok=True)
    old.write_bytes(OLD)
    run = subprocess.run(
        [*COMMAND, *WRITING[name]], cwd=tmp_path, capture_output=True, text=True, preexec_fn=limit_files, timeout=60
    )
    assert run.returncode == 1, run.stderr
    # Before our message matplotlib may tell that it cannot write its own cache either.
    assert re.search("^xetile: error: cannot ", run.stderr, re.MULTILINE), run.stderr
    assert old.read_bytes() == OLD
    assert sorted(path.name for path in old.parent.iterdir() if path.name.startswith(".")) == []


@pytest.mark.parametrize("name", WRITING)
def test_a_new_file_takes_the_old_ones_place_and_permissions(tmp_path, name):
    (tmp_path / "good.mlir").write_text(MATMUL)
    old = tmp_path / name
    old.parent.mkdir(exist_ok=True)
    target = tmp_path / "behind the link"
    target.write_bytes(OLD)
    target.chmod(0o640)
    old.symlink_to(target)
    run = xetile(*WRITING[name], cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert old.is_symlink()
    assert target.read_bytes() != OLD
    assert target.stat().st_mode & 0o666 == 0o640


def test_a_linker_that_is_killed_leaves_the_old_file(tmp_path):
    (tmp_path / "good.mlir").write_text(MATMUL)
    (tmp_path / "out.so").write_bytes(OLD)
    (tmp_path / "cc").write_text("#!/bin/sh\nwhile [ $# -gt 0 ]; do [ $1 = -o ] && rm -f $2; shift; done\nkill -9 $$\n")
    (tmp_path / "cc").chmod(0o755)
    message = fail(*WRITING["out.so"], cwd=tmp_path, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert f"{tmp_path}/cc was killed by signal 9" in message
    assert (tmp_path / "out.so").read_bytes() == OLD


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("folder", "cannot write folder: it is a directory"),
        ("fifo", "cannot write fifo: no one reads from it"),
        ("loop", "cannot write loop: Too many levels of symbolic links"),
        ("gone/k", "cannot write gone/k: No such file or directory"),
        ("/dev/full", "cannot write /dev/full: No space left on device"),
        ("", "cannot write: expected the name of a file, got ''"),
        ("x" * 300, "File name too long"),
    ],
)
@pytest.mark.parametrize("emit", ["llvm", "native"])
def test_places_that_cannot_be_written_are_messages(place, out, message, emit):
    assert message in fail("compile", "good.mlir", "--target", "cpu", "--emit", emit, "-o", out, cwd=place)


def test_a_device_is_written_to_and_stays(place):
    run = xetile("compile", "good.mlir", "--target", "cpu", "-o", "/dev/null", cwd=place)
    assert (run.returncode, run.stderr) == (0, b"")
    assert Path("/dev/null").is_char_device()


def test_ctrl_c_is_a_status(place):
    # Tests that a script's shell runs in the background ignore Ctrl-C, which children inherit.
    process = subprocess.Popen(
        ["env", "--default-signal=INT", *COMMAND, "run", "good.mlir", "--target", "cpu", "--repeat", "1000000000"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        # Once the kernel's code is there.
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and b"libMLIR" not in Path(f"/proc/{process.pid}/maps").read_bytes():
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (130, b"", b"")
