# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What would be published is checked: both packages, one version, files as RECORD says."""

import base64
import hashlib
import importlib.util
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "publish.py"
spec = importlib.util.spec_from_file_location("publish_script", SCRIPT)
publish = importlib.util.module_from_spec(spec)
spec.loader.exec_module(publish)


def make_wheel(dist: Path, package: str, version: str = "1.2.3", content: bytes = b"x = 1\n", recorded=None) -> Path:
    path = dist / f"{package}-{version}-cp312-cp312-manylinux_2_36_x86_64.whl"
    digest = hashlib.sha256(content if recorded is None else recorded).digest()
    digest = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    record = f"{package}-{version}.dist-info/RECORD"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{package}/__init__.py", content)
        wheel.writestr(record, f"{package}/__init__.py,sha256={digest},{len(content)}\n{record},,\n")
    return path


def test_files_are_told_with_their_digests(tmp_path, capsys):
    wheels = [make_wheel(tmp_path, package) for package in publish.PACKAGES]
    assert publish.main([str(tmp_path), "--tag", "v1.2.3"]) == 0
    told = capsys.readouterr().out
    for wheel in wheels:
        assert f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel.name}" in told
    assert "nothing was" in told


def missing(dist: Path) -> str:
    make_wheel(dist, "xetile")
    return "expected wheels of xetile_runtime, got none: run make wheel"


def two_versions(dist: Path) -> str:
    make_wheel(dist, "xetile")
    make_wheel(dist, "xetile_runtime", "1.2.4")
    return "expected one version, got 1.2.3, 1.2.4"


def another_tag(dist: Path) -> str:
    for package in publish.PACKAGES:
        make_wheel(dist, package, "2.0.0")
    return "expected the version of the tag v1.2.3, got 2.0.0"


def changed(dist: Path) -> str:
    make_wheel(dist, "xetile")
    make_wheel(dist, "xetile_runtime", recorded=b"another")
    return "xetile_runtime/__init__.py is not what RECORD says"


def no_wheel(dist: Path) -> str:
    make_wheel(dist, "xetile")
    make_wheel(dist, "xetile_runtime").write_bytes(b"no archive")
    return "is no wheel"


@pytest.mark.parametrize("wrong", [missing, two_versions, another_tag, changed, no_wheel])
def test_what_is_wrong_is_told(wrong, tmp_path, capsys):
    expected = wrong(tmp_path)
    assert publish.main([str(tmp_path), "--tag", "v1.2.3"]) == 1
    told = capsys.readouterr()
    assert told.out == "" and expected in told.err
