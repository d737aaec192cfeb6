# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes wheels of a finished build: `xetile`, with MLIR and LLVM inside, and `xetile-runtime`, without.

.venv/bin/python scripts/wheel.py [--python PYTHON ...] [--all] [--sdist] [--out dist]

Of .venv's Python the wheel is what build/ has. For another one only the extension modules are compiled, into
build/wheel/pyX.Y, with the C++ core of build/; its headers and pip must be there. `xetile-runtime` is made for CPython
3.11 and every newer one, or once for these where CMake knows the stable ABI. Names of files and sizes are printed.
packaging/relocate.py puts libraries that no Linux is sure to have beside the others.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from build_tree import ninja

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
WORK = BUILD / "wheel"
OLDEST = (3, 11)
SYSTEM = ("libc.", "libm.", "libgcc_s.", "libstdc++.", "libz.", "ld-linux")
"""What stays the system's."""
LIMITS = {"xetile": 150e6, "xetile_runtime": 2e6}
"""Bytes of a wheel; more is an error."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", action="append", default=[], metavar="PYTHON", help="interpreters, by path or name")
    parser.add_argument("--all", action="store_true", help="every CPython >= 3.11 with headers that is found")
    parser.add_argument("--sdist", action="store_true", help="the sources, too, of which `pip wheel` makes the wheel")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where wheels go (default: dist)")
    options = parser.parse_args()
    if not (BUILD / "build.ninja").exists():
        fail("there is no build: run `make build`")
    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    version = project_version()
    made: list[Path] = []
    pythons = [describe(python) for python in options.python]
    if options.all:
        pythons += find_pythons()
    pythons = list(dict(sorted(dict(pythons or [describe(sys.executable)]).items())).items())
    if options.sdist:
        made.append(make_sdist(version, out))
    stable = False
    for number, python in pythons:
        print(f"CPython {dotted(number)}: {python}", flush=True)
        tree, python = prepare(number, python)
        if not (stable and has_stable_abi(tree)):
            made.append(make_wheel("xetile_runtime", tree, python, version, out, number))
            stable = has_stable_abi(tree)
        made.append(make_wheel("xetile", tree, python, version, out, number))
    for path in made:
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {os.path.relpath(path)}")


def describe(python: str) -> tuple[tuple[int, int], str]:
    """Version and absolute path of an interpreter that wheels can be made for."""
    code = (
        "import os, sys, sysconfig, venv, ensurepip\n"
        "header = os.path.join(sysconfig.get_paths()['include'], 'Python.h')\n"
        "print(*sys.version_info[:2], sys.implementation.name, os.path.exists(header), sys.executable)"
    )
    run = subprocess.run([python, "-c", code], capture_output=True, text=True)
    if run.returncode:
        fail(f"{python} does not run with venv and pip: {run.stderr.strip()}")
    major, minor, name, header, path = run.stdout.strip().split(maxsplit=4)
    number = (int(major), int(minor))
    if name != "cpython" or number < OLDEST or header != "True":
        fail(f"{python}: expected CPython >= {dotted(OLDEST)} with headers, got {name} {dotted(number)}")
    return number, path


def find_pythons() -> list[tuple[tuple[int, int], str]]:
    """.venv's, and one of each newer version: of PATH, of /usr/bin, of pyenv, of scripts/install-python."""
    found = dict([describe(sys.executable)])
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    cache = run(["bash", "-c", '. scripts/common.sh; printf %s "$cache"'])
    for minor in range(OLDEST[1], 20):
        name = f"python3.{minor}"
        places = [shutil.which(name), f"/usr/bin/{name}", *map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/{name}")))]
        places.append(f"{cache}/python-3.{minor}/bin/{name}")
        for place in places:
            if (3, minor) not in found and place and Path(place).exists() and usable(place):
                number, path = describe(place)
                found[number] = path
    return list(found.items())


def usable(python: str) -> bool:
    """Whether it starts (a version manager's command may refuse to) and has headers."""
    code = "import os, sysconfig, venv, ensurepip; os.stat(sysconfig.get_paths()['include'] + '/Python.h')"
    return subprocess.run([python, "-c", code], capture_output=True).returncode == 0


def project_version() -> str:
    """The version that setuptools-scm makes of git's tags; the same for all files of this run."""
    if given := os.environ.get("SETUPTOOLS_SCM_PRETEND_VERSION"):
        return given
    return run([sys.executable, "-m", "setuptools_scm"], cwd=ROOT).split()[-1]


def prepare(number: tuple[int, int], python: str) -> tuple[Path, str]:
    """A build directory with extension modules for a Python, and the Python that has the build's packages."""
    if number == sys.version_info[:2]:
        run([ninja(BUILD), "-C", BUILD])
        return BUILD, sys.executable
    place = WORK / f"py{dotted(number)}"
    own = place / "venv" / "bin" / "python"
    # A half-made environment is made anew.
    packages = "import nanobind, numpy, scikit_build_core, setuptools_scm"
    if not own.exists() or subprocess.run([own, "-c", packages], capture_output=True).returncode:
        run([python, "-m", "venv", "--clear", place / "venv"])
        run([own, "-m", "pip", "install", "-q", "--disable-pip-version-check", *build_requirements()])
    if not (place / "tree" / "build.ninja").exists():
        flags = [f"-D{name}={value}" for name, value in core_settings().items()]
        command: list[str | Path] = [
            "cmake",
            "-G",
            "Ninja",
            "-S",
            ROOT,
            "-B",
            place / "tree",
            f"-DXETILE_CORE={BUILD}",
            *flags,
        ]
        run([*command, f"-DPython3_EXECUTABLE={own}", f"-DPython_EXECUTABLE={own}"])
    run([ninja(place / "tree"), "-C", place / "tree", "XeTilePythonModules", "XeTilePythonPackage"])
    return place / "tree", str(own)


def has_stable_abi(tree: Path) -> bool:
    """Whether the runtime's extension module is for all Pythons from this one on: CMake makes such from 3.26 on."""
    return (tree / "python_packages" / "xetile" / "_call.abi3.so").exists()


def core_settings() -> dict[str, str]:
    """What build/ was configured with."""
    wanted = (
        "MLIR_DIR",
        "CMAKE_BUILD_TYPE",
        "CMAKE_CXX_COMPILER",
        "CMAKE_C_COMPILER",
        "XETILE_MLIR_PYTHON_SOURCE",
        "XETILE_LIBOMP",
    )
    cache = (BUILD / "CMakeCache.txt").read_text()
    found = {name: re.search(rf"^{name}:\w+=(.+)$", cache, re.MULTILINE) for name in wanted}
    return {name: match[1] for name, match in found.items() if match}


def build_requirements() -> list[str]:
    """The pinned packages of the section "Build" of scripts/requirements.txt, and NumPy, which MLIR looks for."""
    text = (ROOT / "scripts" / "requirements.txt").read_text()
    section = text[text.index("# Build") : text.index("# Run")]
    pins = [line.split("#")[0].strip() for line in section.splitlines()]
    return [*filter(None, pins), "numpy>=2"]


def make_sdist(version: str, out: Path) -> Path:
    with tempfile.TemporaryDirectory() as scratch:
        code = "import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))"
        run([sys.executable, "-c", code, scratch], cwd=ROOT, SETUPTOOLS_SCM_PRETEND_VERSION=version)
        (path,) = Path(scratch).glob("*.tar.gz")
        return Path(shutil.copy(path, out))


def make_wheel(name: str, tree: Path, python: str, version: str, out: Path, number: tuple[int, int]) -> Path:
    runtime = name == "xetile_runtime"
    component = "XeTileRuntimePackage" if runtime else "XeTilePythonModules"
    licenses = WORK / "licenses"
    theirs = bundled_files(tree, runtime)
    collect_licenses(theirs, licenses / component)
    run(["cmake", f"-DXETILE_LICENSES={licenses}", tree])
    settings = {
        "cmake.source-dir": ROOT / "packaging" / "tree",
        "cmake.define.XETILE_TREE": tree,
        "cmake.define.XETILE_COMPONENT": component,
    }
    with tempfile.TemporaryDirectory(prefix="xetile-wheel-") as scratch:
        options = ["-q", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "-w", scratch]
        for key, value in settings.items():
            options += ["-C", f"{key}={value}"]
        source = ROOT / "packaging" / "runtime" if runtime else ROOT
        programs = [*(BUILD / "bin").glob("xetile-opt"), *(BUILD / "bin").glob("xetile-lsp-server")]
        ours = [*(BUILD / "lib").glob("*.so"), *programs, *(tree / "python_packages").rglob("*.so")]
        system = [path for path in theirs if path.name.startswith(SYSTEM)]
        interpreter = f"cp{number[0]}{number[1]}"
        abi = "abi3" if runtime and has_stable_abi(tree) else interpreter
        tag = f"{interpreter}-{abi}-{platform_tag({*ours, *theirs} - set(system))}"
        options += ["-C", f"wheel.tags={tag}"]
        run([python, "-m", "pip", "wheel", *options, source], SETUPTOOLS_SCM_PRETEND_VERSION=version)
        (wheel,) = Path(scratch).glob("*.whl")
        if wheel.stat().st_size > LIMITS[name]:
            fail(f"{wheel.name} has {wheel.stat().st_size / 1e6:.1f} MB, expected at most {LIMITS[name] / 1e6:g}")
        return Path(shutil.copy(wheel, out))


def platform_tag(paths: Iterable[Path]) -> str:
    """The manylinux tag of the newest glibc that a file asks for. test/wheel has auditwheel look at it, too."""
    found = [(2, 17)]
    for path in paths:
        for version in re.findall(r"GLIBC_(\d+)\.(\d+)", run(["readelf", "--version-info", "--wide", path])):
            found.append((int(version[0]), int(version[1])))
    major, minor = max(found)
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def bundled_files(tree: Path, runtime: bool) -> list[Path]:
    """The libraries and programs of others that come along, with all that they need."""
    programs = [path.resolve() for name in ("ld.lld", "FileCheck") if (path := BUILD / "bin" / name).exists()]
    needing: list[Path] = [tree / "python_packages/xetile/mlir/_mlir_libs/libXeTilePythonCAPI.so", *programs]
    if runtime:
        libomp = Path(core_settings().get("XETILE_LIBOMP", ""))
        if not libomp.is_file():
            fail(f"no libomp.so.5 beside libLLVM, which kernels for CPUs need: run scripts/bootstrap, remove {BUILD}")
        programs = [libomp.resolve()]
        needing = [BUILD / "lib" / "libXeTileRuntime.so"]
    found = {Path(line) for line in re.findall(r"=> (/\S+)", run(["ldd", *needing]))}
    return sorted({path.resolve() for path in found if not path.is_relative_to(ROOT)} | set(programs))


def collect_licenses(paths: Iterable[Path], place: Path) -> None:
    """Debian's copyright files of the packages that files come from."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for path in paths:
        if path.name.startswith(SYSTEM) or not shutil.which("dpkg-query"):
            continue
        # Packages know files by the paths before /usr was merged, too.
        names = [str(path), str(path).removeprefix("/usr")]
        for name in names:
            owner = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True).stdout.partition(":")[0]
            text = Path("/usr/share/doc", owner, "copyright")
            if owner and text.exists():
                shutil.copy(text, place / f"{owner}.txt")
                break


def run(command: Sequence[str | Path], cwd: Path = ROOT, **environment: str) -> str:
    """What a command prints; the end of all this with what it says, if it fails."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", os.environ.get("PATH", "")])
    env = {**os.environ, "PATH": beside, **environment}
    result = subprocess.run([str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True)
    if result.returncode:
        fail(f"{' '.join(map(str, command))}\n{result.stdout[-4000:]}{result.stderr[-4000:]}")
    return result.stdout


def dotted(number: tuple[int, int]) -> str:
    return ".".join(map(str, number))


def fail(message: str) -> NoReturn:
    sys.exit(f"wheel.py: error: {message}")


if __name__ == "__main__":
    main()
