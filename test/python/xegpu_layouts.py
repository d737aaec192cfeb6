# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XeGPU of a workgroup as text: layouts, and matrices that are loaded and stored whole."""

import numpy as np
from xegpu_programs import NAMES, numbers

SEED = int(np.random.default_rng().integers(1 << 30))


def layout(grid, data=None, order=None, rest: str = "") -> str:
    """`#xegpu.layout` for subgroups."""
    named = {"sg_layout": grid, "sg_data": data, "order": order}
    parts = [f"{name} = {list(value)}" for name, value in named.items() if value is not None]
    parts += [rest] * bool(rest)
    return f"#xegpu.layout<{', '.join(parts)}>"


def sliced(parent: str, *dims: int) -> str:
    return f"#xegpu.slice<{parent}, dims = {list(dims)}>"


def vector(shape, dtype: str) -> str:
    return f"vector<{'x'.join(map(str, (*shape, dtype)))}>"


def memref(array: np.ndarray) -> str:
    return f"memref<{'x'.join(map(str, array.shape))}x{NAMES[array.dtype]}>"


def tile(array: np.ndarray, shape=None, attr: str = "") -> str:
    shape = array.shape if shape is None else shape
    return f"!xegpu.tensor_desc<{'x'.join(map(str, shape))}x{NAMES[array.dtype]}{', ' * bool(attr)}{attr}>"


def load(name: str, array: np.ndarray, how: str) -> str:
    """`%name` is what the matrix `%m<name>` holds, under the layout `how`."""
    t, zeros = tile(array), ", ".join("0" * array.ndim)
    return (
        f"%t{name} = xegpu.create_nd_tdesc %m{name} : {memref(array)} -> {t}\n"
        f"%{name} = xegpu.load_nd %t{name}[{zeros}] <{{layout = {how}}}> : {t} -> "
        f"{vector(array.shape, NAMES[array.dtype])}\n"
    )


def store(name: str, array: np.ndarray, how: str = "") -> str:
    t, zeros = tile(array), ", ".join("0" * array.ndim)
    attr = f" <{{layout = {how}}}>" if how else ""
    return (
        f"%t{name} = xegpu.create_nd_tdesc %m{name} : {memref(array)} -> {t}\n"
        f"xegpu.store_nd %{name}, %t{name}[{zeros}]{attr} : {vector(array.shape, NAMES[array.dtype])}, {t}\n"
    )


def given(dtype: str, *shape: int, offset: int = 0) -> np.ndarray:
    """Small numbers, others for each `offset`."""
    print("seed", SEED)
    return numbers(dtype, *shape, seed=SEED + offset)
