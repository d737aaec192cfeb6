"""Names that an object file leaves for others to define."""

from __future__ import annotations

import struct

_SYMBOL_TABLE = 2
_WEAK = 2


def undefined_symbols(data: bytes) -> list[str]:
    """The undefined symbols of an ELF file of 64 bits, weak ones left out. ValueError for other data."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("expected an ELF file of 64 bits, little endian")
    try:
        (start,) = struct.unpack_from("<Q", data, 0x28)
        size, count = struct.unpack_from("<HH", data, 0x3A)
        # name, type, flags, address, offset, size, link, ...
        sections = [struct.unpack_from("<IIQQQQI", data, start + number * size) for number in range(count)]
        names = []
        for _, kind, _, _, offset, length, link in sections:
            if kind != _SYMBOL_TABLE:
                continue
            strings = sections[link][4]
            for place in range(offset + 24, offset + length, 24):
                name, info, _, section = struct.unpack_from("<IBBH", data, place)
                if section == 0 and name and info >> 4 != _WEAK:
                    first = strings + name
                    names.append(data[first : data.index(b"\0", first)].decode(errors="replace"))
    except (struct.error, IndexError) as error:
        raise ValueError(f"the ELF file is damaged: {error}") from None
    return sorted(name for name in names if name != "_GLOBAL_OFFSET_TABLE_")
