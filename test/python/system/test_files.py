# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files are written whole or not at all, with the modes that others would give them."""

from __future__ import annotations

import os
import stat

import pytest
from xetile import XeTileError
from xetile.system import files


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode_of(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_files_have_the_processs_mode(tmp_path, umask):
    assert mode_of(files.write(tmp_path / "text", "x")) == 0o640
    assert mode_of(files.write(tmp_path / "library", b"x", executable=True)) == 0o750


@pytest.mark.parametrize(("before", "after"), [(0o600, 0o710), (0o644, 0o754), (0o777, 0o777)])
def test_files_that_are_there_keep_their_mode_and_become_executable_as_far_as_others_would(
    tmp_path, umask, before, after
):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(before)
    assert mode_of(files.write(path, b"new")) == before
    assert mode_of(files.write(path, b"new", executable=True)) == after
    assert path.read_bytes() == b"new"


def test_a_link_stays_one_and_nothing_else_is_left(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    files.write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_after_a_failure_the_old_file_is_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(XeTileError, match=r"cannot write .*f: No space left on device"):
        files.write(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["f"]


def test_only_regular_files_are_read_and_no_fifo_is_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name, what in {"fifo": "got a FIFO", ".": "got a directory", "gone": "there is no such file"}.items():
        with pytest.raises(XeTileError, match=f"cannot read the kernel .*{what}"):
            files.read(tmp_path / name, "the kernel")
    with pytest.raises(XeTileError, match="no one reads from it"):
        files.write(tmp_path / "fifo", "x")
