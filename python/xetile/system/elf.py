# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbols of ELF files, read without loading them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_SYMBOL_TABLE = 2
_DYNAMIC_SYMBOLS = 11
_NO_BITS = 8
_WEAK = 2


def undefined_symbols(data: bytes) -> list[str]:
    """The symbols that an object file leaves for others to define, weak ones left out. ValueError for other data than
    an ELF file of 64 bits."""
    names = []
    for name, info, section, _, _ in _symbols(data, _SYMBOL_TABLE):
        if section == 0 and name and info >> 4 != _WEAK:
            names.append(name)
    return sorted(name for name in names if name != "_GLOBAL_OFFSET_TABLE_")


def read_symbol(data: bytes, wanted: str) -> bytes | None:
    """The bytes of a constant that a shared object exports; None if it has none of that name. ValueError as above."""
    place = find_symbol(data, wanted)
    return None if place is None else data[place]


def find_symbol(data: bytes, wanted: str) -> slice | None:
    """Where in the file the bytes of an exported constant are; None if there is none of that name. ValueError as
    above."""
    for name, _, section, address, size in _symbols(data, _DYNAMIC_SYMBOLS):
        if name == wanted and section != 0:
            return _place(data, section, address, size)
    return None


def _symbols(data: bytes, table: int) -> Iterator[tuple[str, int, int, int, int]]:
    """Name, info, number of the section, address and size of each symbol."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("expected an ELF file of 64 bits, little endian")
    try:
        sections = _sections(data)
        for _, kind, _, _, offset, length, link in sections:
            if kind != table:
                continue
            strings = sections[link][4]
            for place in range(offset + 24, offset + length, 24):
                name, info, _, section, address, size = struct.unpack_from("<IBBHQQ", data, place)
                first = strings + name
                text = data[first : data.index(b"\0", first)].decode(errors="replace")
                yield text, info, section, address, size
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise ValueError(f"the ELF file is damaged: {error}") from None


def _place(data: bytes, section: int, address: int, size: int) -> slice:
    try:
        _, kind, _, start, offset, length, _ = _sections(data)[section]
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError(f"the ELF file is damaged: {error}") from None
    first = offset + address - start
    if kind == _NO_BITS or not start <= address <= address + size <= start + length or first + size > len(data):
        raise ValueError("the ELF file is damaged: a constant lies outside of its section")
    return slice(first, first + size)


def _sections(data: bytes) -> list[tuple[int, ...]]:
    """name, type, flags, address, offset, size, link of each."""
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    return [struct.unpack_from("<IIQQQQI", data, start + number * size) for number in range(count)]
