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
from xetile import tools

pytestmark = pytest.mark.exhaustive
SUITES = {"bookworm": (3, 11), "trixie": (3, 13)}
"""Debian's suites and their Pythons. bookworm has the oldest glibc that the wheels claim to run on."""


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


def archive() -> str:
    script = ". scripts/common.sh; debian_archive"
    return subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True).stdout.strip()


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("debootstrap"), reason="needs root and debootstrap")
@pytest.mark.parametrize("suite", SUITES)
def test_another_debian_without_llvm_passes_the_shipped_tests(all_wheels, suite, tmp_path, tell):
    number = SUITES[suite]
    if not list(all_wheels.glob(f"xetile-*-cp{number[0]}{number[1]}-*.whl")):
        pytest.skip(f"no CPython {number[0]}.{number[1]} here to make a wheel with")
    root = tmp_path / "root"
    packages = tools.cache_dir() / "debootstrap" / suite
    packages.mkdir(parents=True, exist_ok=True)
    command = ["debootstrap", "--variant=minbase", "--include=python3,python3-venv", f"--cache-dir={packages}"]
    run = subprocess.run([*command, suite, root, archive()], capture_output=True, text=True, timeout=900)
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
        "set -e; mount -t proc proc /proc; cd /\n"
        'test -z "$(find / -xdev -name \'libLLVM*\')"; test -z "$(command -v cc)"\n'
        "python3 -m venv /venv; /venv/bin/pip install -q --no-index --find-links /wheels 'xetile[run]'\n"
        "/venv/bin/python -m xetile.selftest; /venv/bin/xetile doctor\n"
        "for t in pvc cpu; do /venv/bin/xetile run $(/venv/bin/xetile where schedules)/payloads/matmul_f16.mlir \\\n"
        "  --target $t --check; done\n"
    )
    command = ["unshare", "-m", "-n", "-p", "--fork", "chroot", root, "/bin/sh", "-c", script]
    clean = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
    run = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=1800)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("result 0: max|d - ref| / max|ref|") == 2
    (glibc,) = re.findall(r"Python .*; (glibc .*)", run.stdout)
    (passed,) = re.findall(r"^\d+ passed, 0 failed$", run.stdout, re.MULTILINE)
    tell(f"Debian {suite}, {glibc}: {passed}")
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
