# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbols of ELF files that the machine's compiler makes, and of damaged ones."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from xetile.system import elf

SOURCE = """
extern int needed(int);
extern int maybe(int) __attribute__((weak));
const char told[] = "twelve bytes";
char zeros[16];
int own(int x) { return needed(x) + (maybe ? maybe(x) : 0) + zeros[x]; }
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> tuple[bytes, bytes]:
    """An object file and a shared object."""
    folder: Path = tmp_path_factory.mktemp("elf")
    compiler = shutil.which("clang-22") or shutil.which("cc")
    (folder / "a.c").write_text(SOURCE)
    subprocess.run([compiler, "-fPIC", "-c", "a.c", "-o", "a.o"], cwd=folder, check=True)
    subprocess.run([compiler, "-shared", "a.o", "-o", "a.so"], cwd=folder, check=True)
    return (folder / "a.o").read_bytes(), (folder / "a.so").read_bytes()


def test_undefined_symbols_are_those_that_must_be_there(files):
    assert elf.undefined_symbols(files[0]) == ["needed"]


def test_constants_are_read_where_they_are(files):
    data = files[1]
    assert elf.read_symbol(data, "told") == b"twelve bytes\0"
    place = elf.find_symbol(data, "told")
    assert data[place] == b"twelve bytes\0" and place.stop - place.start == 13
    assert elf.read_symbol(data, "gone") is None and elf.read_symbol(data, "needed") is None


def test_what_has_no_bytes_in_the_file_is_no_constant(files):
    with pytest.raises(ValueError, match="a constant lies outside of its section"):
        elf.read_symbol(files[1], "zeros")


def test_other_files_are_refused(files):
    for data in (b"", b"\x7fELF\x01\x01" + bytes(100), b"!<arch>\n"):
        with pytest.raises(ValueError, match="expected an ELF file of 64 bits"):
            elf.read_symbol(data, "told")
    with pytest.raises(ValueError, match="the ELF file is damaged"):
        elf.read_symbol(files[1][:1000], "told")


def test_a_constant_behind_the_end_of_the_file_is_none(files):
    """Its section says that it begins ten bytes before the end."""
    data = bytearray(files[1])
    place = elf.find_symbol(files[1], "told")
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    for header in range(start, start + size * count, size):
        offset, length = struct.unpack_from("<QQ", data, header + 24)
        if offset <= place.start < offset + length:
            struct.pack_into("<Q", data, header + 24, len(data) - 10 - (place.start - offset))
    with pytest.raises(ValueError, match="a constant lies outside of its section"):
        elf.read_symbol(bytes(data), "told")
