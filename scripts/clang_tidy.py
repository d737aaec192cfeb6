# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs clang-tidy, with the checks of .clang-tidy, over the C++ files that git knows and the build compiles.

usage: .venv/bin/python scripts/clang_tidy.py [--seconds N] [FILE...]

Without files it is what has changed below cpp, but for the bindings, thin files that see upstream's.

Headers are not taken precompiled: a file must include what it uses, and checks walk through nothing else.
A file takes seconds, so one that was clean is not looked at again until it, a header that it includes, the checks or
the tool change. What is known to be clean is in XeTile's cache, as empty files named by a hash of all these; paths are
relative in it, so that checkouts share it. Only the compiler knows the headers: `make build` first.
With --seconds no file is begun after that time. Files of the newest commits come first, and how many are left is
printed: on two slow cores all of them take over half an hour, once, and the next run goes on where this one ended.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from build_tree import ninja

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
VERSIONS = (ROOT / "scripts" / "versions.env").read_text()
TOOL = f"clang-tidy-{VERSIONS.partition('LLVM_VERSION=')[2].partition('.')[0]}"
CHECKS = ROOT / ".clang-tidy"
DAYS_KEPT = 30


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="clang_tidy", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, help="after which no file is begun (default: no limit)")
    parser.add_argument("chosen", nargs="*", metavar="FILE", help="default: what has changed below cpp")
    options = parser.parse_args(arguments)
    chosen = options.chosen
    files = [Path(name).resolve() for name in chosen] or list(known_files())
    commands = compile_commands()
    database = write_commands(commands)
    if unknown := [str(file) for file in files if chosen and file not in commands]:
        sys.exit(f"clang_tidy: error: not compiled by the build: {', '.join(unknown)}")
    headers = dependencies()
    common = hashlib.sha256()
    common.update(run(TOOL, "--version").encode() + CHECKS.read_bytes())

    folder = cache_folder()
    todo = []
    for file in files:
        if file not in commands:
            continue  # For another configuration of the build.
        stamp = folder / key(file, commands[file], headers.get(file, []), common)
        if stamp.exists() and not chosen:
            os.utime(stamp)
        else:
            todo.append((file, stamp))

    newest = {
        name: place
        for place, name in enumerate(run("git", "log", "--format=", "--name-only", "--", "cpp").split()[::-1])
    }
    todo.sort(key=lambda work: -newest.get(str(work[0].relative_to(ROOT)), len(newest)))

    said: set[str] = set()
    left = 0
    start = time.monotonic()

    def in_time(work: tuple[Path, Path]) -> list[str] | None:
        late = options.seconds is not None and time.monotonic() - start > options.seconds
        return None if late else check(*work, database)

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for finds in pool.map(in_time, todo):
            if finds is None:
                left += 1
                continue
            # A header's find comes with every file that includes it.
            for find in finds:
                if find not in said:
                    print(find, flush=True)
                    said.add(find)
    drop_old(folder)
    if todo:
        print(f"clang_tidy: {len(todo) - left} of {len(files)} files in {time.monotonic() - start:.0f} s")
    if left:
        print(f"clang_tidy: {left} files are left for the next run; scripts/clang_tidy.py looks at all of them")
    return 1 if said else 0


def run(*command: str | Path) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def known_files() -> list[Path]:
    return [ROOT / name for name in run("git", "ls-files", "cpp/*.cpp", ":!cpp/bindings").split()]


def compile_commands() -> dict[Path, str]:
    path = BUILD / "compile_commands.json"
    if not path.exists():
        sys.exit(f"clang_tidy: error: there is no {path}: run make build")
    precompiled = (
        r" -Winvalid-pch(?: -Xclang)? -include-pch(?: -Xclang)? \S+(?:(?: -Xclang)? -include(?: -Xclang)? \S+)?"
    )
    return {Path(entry["file"]): re.sub(precompiled, "", entry["command"]) for entry in json.loads(path.read_text())}


def write_commands(commands: dict[Path, str]) -> Path:
    """The folder of a compilation database of these commands, in the build directory."""
    folder = BUILD / "clang-tidy"
    folder.mkdir(exist_ok=True)
    entries = [{"directory": str(BUILD), "command": command, "file": str(file)} for file, command in commands.items()]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return folder


def dependencies() -> dict[Path, list[str]]:
    """What each file was compiled from, as ninja keeps it; the file itself comes first."""
    found: dict[Path, list[str]] = {}
    for block in run(ninja(BUILD), "-C", BUILD, "-t", "deps").split("\n\n"):
        names = [line.strip() for line in block.splitlines() if line.startswith(" ")]
        if names:
            found[(BUILD / names[0]).resolve()] = names
    return found


@cache
def digest(path: str) -> bytes:
    """Of a file's content; ninja's paths are relative to the build directory."""
    try:
        return hashlib.sha256((BUILD / path).read_bytes()).digest()
    except OSError:
        return b"missing"


def key(file: Path, command: str, headers: list[str], common: hashlib._Hash) -> str:
    whole = common.copy()
    whole.update(f"{file.relative_to(ROOT)} {command.replace(str(ROOT), '')}".encode())
    # LLVM's and the system's headers change with their packages, whose versions the tool's tells. CMake's list of
    # precompiled headers names the checkout; what it lists is a header of ours, which is here too.
    known = ("/usr/", "CMakeFiles/XeTileHeaders.dir/")
    for header in [str(file), *(name for name in headers if not name.startswith(known))]:
        whole.update(digest(header))
    return whole.hexdigest()


def check(file: Path, stamp: Path, database: Path) -> list[str]:
    """What clang-tidy has to say, find by find; nothing for a clean file, which is remembered."""
    command: list[str | Path] = [TOOL, "--quiet", f"--config-file={CHECKS}", "-p", database, file]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if result.returncode == 0:
        stamp.touch()
        return []
    finds = re.split(r"^(?=\S+:\d+:\d+: (?:error|warning): )", result.stdout.replace(f"{ROOT}/", ""), flags=re.M)
    return [find.rstrip() for find in finds if find.strip()] or [f"{file}: {result.stderr}"]


def cache_folder() -> Path:
    """Where clean files are remembered; scripts/common.sh knows where the cache is."""
    ask = '. scripts/common.sh && printf %s "$cache"'
    place = subprocess.run(["bash", "-c", ask], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    folder = Path(place, "clang-tidy")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def drop_old(folder: Path) -> None:
    oldest = time.time() - DAYS_KEPT * 24 * 3600
    for stamp in folder.iterdir():
        if stamp.stat().st_mtime < oldest:
            stamp.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
