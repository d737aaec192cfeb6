# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheels on other Linuxes and other Pythons, and those that the sdist makes: minutes, by `make test-wheel`."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from environments import ROOT, make_environment, wheel_of

pytestmark = pytest.mark.exhaustive
SUITES = {"bookworm": (3, 11), "trixie": (3, 13)}
"""Debian's suites and their Pythons. bookworm has the oldest glibc that the wheels claim to run on."""


@pytest.fixture(scope="module")
def all_wheels(tmp_path_factory) -> Path:
    """The wheels for every Python that is found."""
    place = tmp_path_factory.mktemp("all")
    command = [sys.executable, ROOT / "scripts" / "wheel.py", "--all", "--out", place]
    run = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert run.returncode == 0, run.stdout + run.stderr
    print(run.stdout)
    return place


def pythons() -> dict[str, str]:
    """Version -> interpreter, as scripts/wheel.py finds them, without .venv's."""
    code = "import sys; sys.path.insert(0, 'scripts'); import wheel\nfor n, p in wheel.find_pythons(): print(*n, p)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line.split(maxsplit=2) for line in run.stdout.splitlines()]
    return {f"{major}.{minor}": path for major, minor, path in rows if (int(major), int(minor)) != sys.version_info[:2]}


@pytest.mark.parametrize("version", pythons())
def test_other_pythons_pass_the_shipped_tests(all_wheels, outside, version):
    number = tuple(map(int, version.split(".")))
    wheel = f"{wheel_of(all_wheels, 'xetile', number)}[run]"
    environment = make_environment(outside / f"py{version}", pythons()[version], "--find-links", all_wheels, wheel)
    paths = environment.opened("python", "-m", "xetile.selftest")
    assert environment.strangers(paths) == []
    assert f"Python {version}." in environment.run("xetile", "doctor")


def test_a_python_that_is_too_old_is_refused_by_pip(dist, outside):
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    old = next(iter(sorted(root.glob("3.10.*/bin/python3.10"))), None)
    if old is None:
        pytest.skip("no Python 3.10 here")
    place = outside / "old"
    for name in ("xetile", "xetile_runtime"):
        run = subprocess.run(
            [old, "-m", "pip", "install", "--no-index", "--no-deps", "--target", place, wheel_of(dist, name)],
            capture_output=True,
            text=True,
        )
        assert run.returncode != 0 and "is not a supported wheel on this platform" in run.stderr


def archive() -> str:
    script = ". scripts/common.sh; debian_archive"
    return subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True).stdout.strip()


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("debootstrap"), reason="needs root and debootstrap")
@pytest.mark.parametrize("suite", SUITES)
def test_another_debian_without_llvm_passes_the_shipped_tests(all_wheels, outside, suite, tmp_path):
    number = SUITES[suite]
    if not list(all_wheels.glob(f"xetile-*-cp{number[0]}{number[1]}-*.whl")):
        pytest.skip(f"no CPython {number[0]}.{number[1]} here to make a wheel with")
    root = tmp_path / "root"
    include = "--include=python3,python3-venv"
    run = subprocess.run(
        ["debootstrap", "--variant=minbase", include, suite, root, archive()],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    wheels = root / "wheels"
    # What it installs is fetched here: the other system needs no network.
    platforms = [part for minor in range(17, 37) for part in ("--platform", f"manylinux_2_{minor}_x86_64")]
    wheel = f"{wheel_of(all_wheels, 'xetile', number)}[run]"
    options = ["--only-binary=:all:", "--python-version", ".".join(map(str, number)), *platforms]
    options += ["--platform", "manylinux2014_x86_64", "--find-links", all_wheels, "-d", wheels]
    run = subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", *options, wheel], capture_output=True, text=True, timeout=900
    )
    assert run.returncode == 0, run.stderr
    script = (
        "set -e; mount -t proc proc /proc; python3 -m venv /venv; cd /\n"
        "/venv/bin/pip install -q --no-index --find-links /wheels 'xetile[run]'\n"
        "! ls /usr/lib/llvm-* /usr/lib/x86_64-linux-gnu/libLLVM* 2> /dev/null; ! command -v cc\n"
        "/venv/bin/python -m xetile.selftest; /venv/bin/xetile doctor\n"
        "for t in pvc cpu; do /venv/bin/xetile run $(/venv/bin/xetile where schedules)/payloads/matmul_f16.mlir \\\n"
        "  --target $t --check; done\n"
    )
    command = ["unshare", "-m", "-n", "-p", "--fork", "chroot", root, "/bin/sh", "-c", script]
    clean = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
    run = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=1800)
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"^\d+ passed, 0 failed$", run.stdout, re.MULTILINE)
    assert run.stdout.count("result 0: max|d - ref| / max|ref|") == 2
    print(next(line for line in run.stdout.splitlines() if "glibc" in line))
    shutil.rmtree(root)


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
