"""Deep-tiled matmuls on the CPU against NumPy: forms, shapes, types, configurations, refusals."""

from __future__ import annotations

import ctypes
import json

import numpy as np
import pytest
from xetile import XeTileError, cli, cpu
from xetile.mlir import ir

# Dimensions of A, B and C for each form; capital letters are outer dimensions of blocked operands.
FORMS = {
    "plain": ("mk", "kn", "mn"),
    "transposed A": ("km", "kn", "mn"),
    "transposed B": ("mk", "nk", "mn"),
    "both transposed": ("km", "nk", "mn"),
    "transposed C": ("mk", "kn", "nm"),
    "batch": ("bmk", "bkn", "bmn"),
    "batch, transposed B": ("bmk", "bnk", "bmn"),
    "blocked": ("MKmk", "NKkn", "MNmn"),
    "blocked weights": ("mk", "NKkn", "mNn"),
    "blocked pairs": ("MKmkp", "NKknp", "MNmn"),
}
SHAPES = [
    (256, 512, 128),
    (1024, 512, 512),
    (32, 128, 64),
    (100, 200, 300),
    (13, 19, 17),
    (64, 64, 8192),
    (128, 1024, 1024),
]
TOLERANCE = {"f64": 1e-12, "f32": 1e-5, "f16": 2e-3, "bf16": 1.6e-2}


def payload(
    form: str, sizes: dict[str, int], types: tuple[str, str, str], *, fill: bool, dynamic: str = ""
) -> ir.Module:
    """A module with one linalg.generic (or matmul for the plain form); `dynamic` names dimensions without a size."""
    maps = FORMS[form]
    order = [d for d in "bMNmnKkp" if any(d in m for m in maps)]
    dims = [f"d{i}" for i in range(len(order))]
    name = dict(zip(order, dims, strict=True))

    def tensor(operand: int) -> str:
        return (
            "tensor<"
            + "x".join(["?" if d in dynamic else str(sizes[d]) for d in maps[operand]] + [types[operand]])
            + ">"
        )

    def affine(operand: int) -> str:
        return f"affine_map<({', '.join(dims)}) -> ({', '.join(name[d] for d in maps[operand])})>"

    a, b, c = (tensor(i) for i in range(3))
    floats = types[2][0] in "fb"
    kinds = ["reduction" if d in "Kkp" else "parallel" for d in order]
    lines = [f"func.func @f(%A: {a}, %B: {b}, %C: {c}) -> {c} {{"]
    start = "%C"
    if fill:
        lines += [
            f"%zero = arith.constant {'0.0' if floats else '0'} : {types[2]}",
            f"%filled = linalg.fill ins(%zero : {types[2]}) outs(%C : {c}) -> {c}",
        ]
        start = "%filled"
    if form == "plain":
        lines.append(f"%r = linalg.matmul ins(%A, %B : {a}, {b}) outs({start} : {c}) -> {c}")
    else:
        lines.append(
            f"%r = linalg.generic {{indexing_maps = [{affine(0)}, {affine(1)}, {affine(2)}], "
            f"iterator_types = {json.dumps(kinds)}}} ins(%A, %B : {a}, {b}) outs({start} : {c}) {{"
        )
        lines.append(f"^bb0(%x: {types[0]}, %y: {types[1]}, %z: {types[2]}):")
        for i, v in enumerate("xy"):
            cast = "" if types[i] == types[2] else ("arith.extf" if floats else "arith.extsi")
            lines.append(f"%{v}1 = {cast} %{v} : {types[i]} to {types[2]}" if cast else "")
        x, y = ("x1" if types[0] != types[2] else "x"), ("y1" if types[1] != types[2] else "y")
        kind = "f" if floats else "i"
        lines += [f"%p = arith.mul{kind} %{x}, %{y} : {types[2]}", f"%s = arith.add{kind} %z, %p : {types[2]}"]
        lines += [f"linalg.yield %s : {types[2]}", f"}} -> {c}"]
    lines += [f"return %r : {c}", "}"]
    with ir.Context():
        return ir.Module.parse("\n".join(lines))


def blocked(form: str, m: int, n: int, k: int, batch: int = 3) -> dict[str, int]:
    """The sizes of a form's dimensions for a problem of at least m x n x k."""
    if form.startswith("blocked"):
        pair = 2 if form == "blocked pairs" else 1
        inner = {"m": 16, "n": 32, "k": 32 // pair, "p": 2}
        sizes = {"M": -(-m // 16), "N": -(-n // 32), "K": -(-k // 32), **inner}
        return {**sizes, "m": m} if form == "blocked weights" else sizes
    return {"m": m, "n": n, "k": k, "b": batch}


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        return rng.integers(-20, 20, shape).astype(dtype)
    return rng.uniform(-1, 1, shape).astype(dtype)


def check(rng, form, sizes, types, *, fill=False, dynamic="", config=None, threads=2, pack="auto") -> cpu.CpuKernel:
    kernel = cpu.compile(
        payload(form, sizes, types, fill=fill, dynamic=dynamic), config=config, threads=threads, pack=pack
    )
    maps = [m.replace("K", "K") for m in FORMS[form]]
    arrays = [
        draw(rng, tuple(sizes[d] for d in dims), spec.numpy_dtype)
        for dims, spec in zip(maps, kernel.arguments, strict=True)
    ]
    kept = [array.copy() for array in arrays]
    result = kernel(*arrays)
    for array, copy in zip(arrays, kept, strict=True):
        assert array.tobytes() == copy.tobytes(), "an argument was changed"
    wide = np.int64 if arrays[2].dtype.kind in "iu" else np.float64
    a, b, c = (array.astype(wide) for array in arrays)
    expected = np.einsum(f"{maps[0]},{maps[1]}->{maps[2]}", a, b, optimize=True) + (0 if fill else c)
    assert result.shape == expected.shape
    if wide is np.int64:
        assert (result == expected).all()
    else:
        scale = np.abs(expected).max() or 1.0
        difference = np.abs(result.astype(wide) - expected).max() / scale
        assert difference < TOLERANCE[types[2]], f"{form} {sizes} {types} {config}: {difference}"
    return kernel


def random_config(rng: np.random.Generator, sizes: dict[str, int], form: str, threads: int) -> dict[str, int]:
    """A legal configuration: blocks that are multiples of units and innermost blocks."""
    units = {"M": 1, "N": 1, "K": 1}
    extent = {}
    for dim in "MNK":
        inner = sizes.get(dim.lower(), 1) * (sizes["p"] if dim == "K" and "p" in FORMS[form][0] else 1)
        blocks = dim in FORMS[form][0] or dim in FORMS[form][1]
        units[dim] = inner if blocks else 1
        extent[dim] = inner * sizes[dim] if blocks else inner
    config, left = {}, threads
    for dim in rng.permutation(list("MNK")):
        innermost = units[dim] * int(rng.integers(1, 1 + max(1, min(64, extent[dim]) // units[dim])))
        count = -(-extent[dim] // innermost)
        share = int(rng.integers(1, 1 + min(left, count)))
        left //= share
        config[f"{dim}Threads"] = share
        config[f"innermost{dim}Block"] = innermost
        config[f"{dim}Block"] = innermost * int(rng.integers(1, 2 + count))
    config["loopOrder"] = int(rng.integers(6))
    return config


@pytest.mark.parametrize("types", [("f32", "f32", "f32"), ("bf16", "bf16", "f32")], ids=["f32", "bf16"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_conformance_shapes_by_default(rng, shape, types):
    check(rng, "plain", blocked("plain", *shape), types, fill=True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("types", [("f32", "f32", "f32"), ("bf16", "bf16", "f32")], ids=["f32", "bf16"])
def test_forms(rng, form, types):
    check(rng, form, blocked(form, 100, 200, 300), types)


# The rows of a form: blocks of rows where it is blocked, else single ones.
ROWS = {form: dim for form in FORMS if (dim := next((d for d in "Mm" if d in FORMS[form][0]), None))}


@pytest.mark.parametrize(("form", "dim"), ROWS.items())
def test_dynamic_m(rng, form, dim):
    check(rng, form, blocked(form, 77, 65, 40), ("f32", "f32", "f32"), dynamic=dim)


@pytest.mark.parametrize("order", range(6))
def test_loop_orders(rng, order):
    config = {
        "MBlock": 24,
        "NBlock": 32,
        "KBlock": 16,
        "innermostMBlock": 8,
        "innermostNBlock": 16,
        "innermostKBlock": 8,
    }
    kernel = check(
        rng,
        "plain",
        blocked("plain", 100, 90, 70),
        ("f32", "f32", "f32"),
        fill=True,
        config={**config, "loopOrder": order, "MThreads": 1, "NThreads": 1, "KThreads": 1},
    )
    assert "scf.for" in kernel.stages["1-tiled"]


@pytest.mark.parametrize(
    "types",
    [
        ("f16", "f16", "f16"),
        ("bf16", "bf16", "bf16"),
        ("f16", "f16", "f32"),
        ("f64", "f64", "f64"),
        ("i8", "i8", "i32"),
        ("i32", "i32", "i32"),
    ],
    ids="-".join,
)
@pytest.mark.parametrize("k_threads", [1, 2])
def test_types(rng, types, k_threads):
    config = {"KThreads": k_threads, "MThreads": 1, "NThreads": 1, "KBlock": 32, "innermostKBlock": 16}
    check(rng, "plain", blocked("plain", 50, 70, 130), types, config=config)


@pytest.mark.parametrize("number", range(60))
def test_random_draws(rng, number):
    form = list(FORMS)[int(rng.integers(len(FORMS)))]
    types = [("f32", "f32", "f32"), ("bf16", "bf16", "f32"), ("i8", "i8", "i32")][int(rng.integers(3))]
    sizes = blocked(form, *(int(x) for x in rng.integers(1, 150, 3)), batch=int(rng.integers(1, 4)))
    config = random_config(rng, sizes, form, 4)
    pack = ["auto", "never", "always"][int(rng.integers(3))]
    print(form, sizes, types, config, pack)
    check(rng, form, sizes, types, fill=bool(rng.integers(2)), config=config, threads=4, pack=pack)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"MThreads": 3}, "MThreads = 3: expected at most 2"),
        ({"MThreads": 0}, "MThreads = 0: expected 1 to"),
        ({"KBlock": -4}, "KBlock = -4: expected 1 to"),
        ({"loopOrder": 6}, "loopOrder = 6: expected 0 to 5"),
        ({"MBlock": 10, "innermostMBlock": 4}, "MBlock = 10: expected a multiple of innermostMBlock = 4"),
        ({"NThreads": 2, "innermostNBlock": 64, "NBlock": 64}, "NThreads = 2: expected 1 to 1"),
        ({"innermostNBlock": 2**30}, "innermostNBlock = 1073741824: expected at most 64"),
        ({"MBlocks": 2}, "unknown field 'MBlocks'"),
        ({"MBlock": "2"}, "MBlock: expected an integer"),
    ],
)
def test_illegal_configs_are_refused(config, message):
    with pytest.raises(XeTileError, match=message):
        cpu.compile(payload("plain", blocked("plain", 64, 64, 64), ("f32",) * 3, fill=True), config=config, threads=2)


def test_out_is_filled_and_aliases_are_refused(rng):
    kernel = cpu.compile(payload("plain", blocked("plain", 32, 32, 32), ("f32",) * 3, fill=True), threads=1)
    a, b, c = (draw(rng, (32, 32), np.dtype("f4")) for _ in range(3))
    out = np.empty((32, 32), "f4")
    assert kernel(a, b, c, out=out) is out
    assert np.allclose(out, a @ b, atol=1e-4)
    with pytest.raises(XeTileError, match="shares memory"):
        kernel(a, b, c, out=a)
    with pytest.raises(XeTileError, match="argument 1: expected 32x32xf32"):
        kernel(a, b[:16], c)


def test_explain_names_the_terms():
    text = cpu.explain(payload("plain", blocked("plain", 512, 512, 512), ("f32",) * 3, fill=True), threads=2)
    first, *terms = text.splitlines()
    values = json.loads(first[first.index("{") :])
    assert values["MThreads"] * values["NThreads"] * values["KThreads"] <= 2
    for word in ("innermost", "threads", "pack A", "blocks", "loop order"):
        assert any(word in term for term in terms)


def test_config_round_trips_through_json():
    config = cpu.MatmulConfig.from_json('{"MThreads": 2, "loopOrder": 3}')
    assert cpu.MatmulConfig.from_json(config.to_json()) == config
    with pytest.raises(XeTileError, match="expected a JSON object"):
        cpu.MatmulConfig.from_json("[1]")


def test_split_k_uses_threads_of_k_by_itself():
    kernel = cpu.compile(payload("plain", blocked("plain", 16, 16, 65536), ("f32",) * 3, fill=True), threads=8)
    assert "tensor<8x16x16xf32>" in kernel.stages["1-tiled"]


def test_single_batch_on_one_thread(rng):
    sizes = blocked("batch", 20, 30, 40, batch=1)
    check(rng, "batch", sizes, ("f32",) * 3, fill=True, threads=1)


@pytest.mark.parametrize("empty", ["m", "n", "k"])
def test_empty_dimensions(rng, empty):
    sizes = {**blocked("plain", 20, 30, 40), empty: 0}
    kernel = cpu.compile(payload("plain", sizes, ("f32",) * 3, fill=False), threads=2)
    a, b, c = (draw(rng, spec.shape, np.dtype("f4")) for spec in kernel.arguments)
    assert np.allclose(kernel(a, b, c), a @ b + c, atol=1e-4)


def test_shared_object_is_called(rng, tmp_path):
    kernel = cpu.compile(payload("plain", blocked("plain", 40, 50, 60), ("f32",) * 3, fill=False), threads=2)
    kernel.write_shared_object(tmp_path / "kernel.so")
    function = ctypes.CDLL(str(tmp_path / "kernel.so"))._mlir_ciface_f
    a, b, c = (draw(rng, spec.shape, np.dtype("f4")) for spec in kernel.arguments)
    d = np.empty_like(c)

    def descriptor(x):
        return (ctypes.c_int64 * 7)(x.ctypes.data, x.ctypes.data, 0, *x.shape, x.shape[1], 1)

    function(*map(ctypes.byref, map(descriptor, (a, b, c, d))))
    assert np.allclose(d, a @ b + c, atol=1e-4)


def test_command(tmp_path, capsys):
    source = tmp_path / "matmul.mlir"
    source.write_text(str(payload("plain", blocked("plain", 64, 64, 64), ("f32",) * 3, fill=False)))
    assert cli.main(["run", str(source), "--target", "cpu", "--check", "--set", "threads=2", "--seed", "1"]) == 0
    assert "max|d - ref|" in capsys.readouterr().out
    assert cli.main(["explain", str(source), "--set", "MThreads=1"]) == 0
    assert '"MThreads": 1' in capsys.readouterr().out
    assert cli.main(["compile", str(source), "--target", "cpu", "-o", str(tmp_path / "out.so")]) == 0
    assert (tmp_path / "out.so").read_bytes().startswith(b"\x7fELF")
    assert cli.main(["compile", str(source), "--target", "cpu", "--emit", "xegpu", "-o", "-"]) == 1
    assert "expected native" in capsys.readouterr().err


def test_later_calls_check_their_arrays_too(rng):
    kernel = cpu.compile(payload("plain", {"m": 5, "n": 33, "k": 18}, ("bf16", "bf16", "f32"), fill=True), threads=1)
    a, b, start = (draw(rng, spec.shape, spec.numpy_dtype) for spec in kernel.arguments)
    expected = a.astype("f4") @ b.astype("f4")

    def close(result):
        return np.allclose(result, expected, rtol=0, atol=1e-4)

    assert close(kernel(a, b, start))
    out = np.full((5, 33), np.nan, "f4")
    assert kernel(a, b, start, out=out) is out and close(out)
    out[:] = np.nan
    assert kernel(a, b, start, out=(out,)) is out and close(out)
    # Other than in C order, at odd addresses, subclasses: converted as in the first call.
    turned = np.asfortranarray(b)
    shifted = np.empty(a.nbytes + 2, np.uint8)[2:].view(a.dtype).reshape(a.shape)
    shifted[:] = a
    for other in (turned, b[:, ::-1][:, ::-1], b.copy()):
        assert close(kernel(shifted, other, start))
    frozen = out.copy()
    frozen.flags.writeable = False
    wrong = [
        ((a, b), {}, "expected 3 arrays, got 2"),
        ((a.astype("f4"), b, start), {}, "argument 0: expected 5x18xbf16"),
        ((a, b[:, :32], start), {}, "argument 1: expected 18x33xbf16"),
        ((a, b.tolist(), start), {}, "argument 1: .* got list"),
        ((a, b, start), {"out": frozen}, "expected a writable array in C order"),
        ((a, b, start), {"out": np.asfortranarray(out)}, "expected a writable array in C order"),
        ((a, b, start), {"out": start}, "it shares memory with another array"),
        ((a, b, start), {"out": (out, out)}, "expected 1 arrays, got 2"),
        ((a, b, start), {"out": out[:, :32].copy()}, "out 0: expected 5x33xf32"),
    ]
    for arrays, options, message in wrong:
        with pytest.raises(XeTileError, match=message):
            kernel(*arrays, **options)
