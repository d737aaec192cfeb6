# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machines that the cost model may be told of: DLTI entries of the device "CPU", all of them.

XETILE_TEST_MACHINE=Xeon pytest test/python/targets/cpu/test_deep_tile*.py chooses the code of a Xeon and runs it here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from xetile.system import machine

CALIBRATIONS: Mapping[str, Mapping[str, int | float]] = {
    # This project's measurements of a Zen 4 (family 25, model 17).
    "EPYC": {
        "L1_cache_size_in_bytes": 32 << 10,
        "L1_cache_ways": 8,
        "L2_cache_size_in_bytes": 1 << 20,
        "L2_cache_ways": 8,
        "L3_cache_size_in_bytes": 32 << 20,
        "multiply_add_ns": 0.271,
        "bf16_dot_ns": 0.271,
        "int8_dot_ns": 0.271,
        "read_l2_ns": 8.7,
        "read_l3_ns": 10.4,
        "copy_l2_ns": 23.6,
        "copy_l3_ns": 23.6,
        "write_l2_ns": 13.0,
        "write_l3_ns": 16.0,
        "wait_l3_ns": 1.1,
        "wait_unaligned_ns": 5.0,
        "fork_ns": 2200.0,
    },
    # Measurements of an Emerald Rapids (family 6, model 207) with AMX; its fork was not measured.
    "Xeon": {
        "L1_cache_size_in_bytes": 48 << 10,
        "L1_cache_ways": 12,
        "L2_cache_size_in_bytes": 2 << 20,
        "L2_cache_ways": 16,
        "L3_cache_size_in_bytes": 260 << 20,
        "multiply_add_ns": 0.183,
        "bf16_dot_ns": 0.727,
        "int8_dot_ns": 0.181,
        "bf16_tiles_ns": 7.0,
        "int8_tiles_ns": 7.0,
        "read_l2_ns": 8.0,
        "read_l3_ns": 36.0,
        "copy_l2_ns": 43.0,
        "copy_l3_ns": 80.0,
        "write_l2_ns": 11.5,
        "write_l3_ns": 60.0,
        "wait_l3_ns": 18.0,
        "wait_unaligned_ns": 18.0,
        "fork_ns": 2200.0,
    },
}


def chosen() -> Mapping[str, int | float]:
    """The machine that the environment asks for; nothing for the one at hand."""
    name = os.environ.get("XETILE_TEST_MACHINE")
    return CALIBRATIONS[name] if name else {}


def runnable(rates: Mapping[str, int | float]) -> dict[str, int | float]:
    """What a machine with such rates needs besides, for code that this CPU runs: threads, vectors, dot products."""
    flags = machine.flags()
    width = 512 if "avx512f" in flags else 256 if {"avx2", "fma"} <= flags else 128
    # As the compiler decides for the machine at hand.
    worth = rates["bf16_dot_ns"] < 2 * rates["multiply_add_ns"]
    return {
        "num_threads": os.cpu_count() or 1,
        "max_vector_width": width,
        "bf16_dot": int(width == 512 and "avx512_bf16" in flags and worth),
        "int8_dot": int(not flags.isdisjoint({"avx512_vnni", "avx_vnni"})),
        "amx": 0,
    }


def spec(own: Mapping[str, int | float]) -> str:
    """A whole description as an attribute: a test's own entries, those of the chosen machine beside them."""
    rates = chosen() or CALIBRATIONS["EPYC"]
    entries = dict(rates) | runnable(rates) | dict(own)
    text = ", ".join(f"{json.dumps(name)} = {value} : {_type(value)}" for name, value in entries.items())
    return f'#dlti.target_system_spec<"CPU" = #dlti.target_device_spec<{text}>>'


def _type(value: float) -> str:
    return "f64" if isinstance(value, float) else "i32" if abs(value) < 2**31 else "i64"
