#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What would be published of a folder of wheels: each file is checked, and told with its size and SHA-256.

Both packages are there with one version, that of the tag; every file of a wheel is what its RECORD says. Nothing is
uploaded: the project has no place on an index.

usage: scripts/publish.py DIST [--tag v1.2.3]
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("xetile", "xetile_runtime")


def main(arguments: list[str] | None = None) -> int:
    """Prints what is there, or what is wrong; the status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=Path)
    parser.add_argument("--tag", help="expect this version: v1.2.3")
    options = parser.parse_args(arguments)
    wrong = list(check(options.dist, options.tag))
    for text in wrong:
        print(f"publish: error: {text}", file=sys.stderr)
    if wrong:
        return 1
    for path in found(options.dist):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        print(f"{path.stat().st_size:>12,}  {digest}  {path.name}")
    print("publish: all of these would be uploaded; nothing was: there is no index to upload to")
    return 0


def found(dist: Path) -> list[Path]:
    """The files that would be published."""
    return sorted([*dist.glob("*.whl"), *dist.glob("*.tar.gz")])


def check(dist: Path, tag: str | None) -> Iterator[str]:
    """What is wrong."""
    wheels = [path for path in found(dist) if path.suffix == ".whl"]
    for package in PACKAGES:
        if not any(path.name.split("-")[0] == package for path in wheels):
            yield f"{dist}: expected wheels of {package}, got none: run make wheel"
    versions = sorted({path.name.split("-")[1] for path in wheels})
    if len(versions) > 1:
        yield f"{dist}: expected one version, got {', '.join(versions)}"
    if tag is not None and versions not in ([], [tag.removeprefix("v")]):
        yield f"{dist}: expected the version of the tag {tag}, got {', '.join(versions)}"
    for path in wheels:
        yield from check_wheel(path)


def check_wheel(path: Path) -> Iterator[str]:
    """What is wrong with the files of a wheel."""
    try:
        with zipfile.ZipFile(path) as wheel:
            names = set(wheel.namelist())
            (record,) = (name for name in names if name.endswith(".dist-info/RECORD"))
            rows = {row[0]: row[1] for row in csv.reader(wheel.read(record).decode().splitlines()) if row}
            if names != set(rows):
                yield f"{path.name}: its RECORD and its files differ: {', '.join(sorted(names ^ set(rows)))[:200]}"
            for name in sorted(names & set(rows) - {record}):
                digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
                if rows[name] != f"sha256={digest}":
                    yield f"{path.name}: {name} is not what RECORD says"
    except (ValueError, zipfile.BadZipFile) as error:
        yield f"{path.name}: is no wheel: {error}"


if __name__ == "__main__":
    sys.exit(main())
