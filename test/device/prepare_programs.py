# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a folder with problems of KernelBench as kernels for a Hopper GPU, for `on_device.py`; needs torch-mlir.

PYTHONPATH=build/python_packages .venv-torch/bin/python test/device/prepare_programs.py FOLDER KERNELBENCH [--level 1 2]
    [--only 1 20 ..] [--elements 2000000] [--seconds 120] [--jobs 2]
python3 FOLDER/on_device.py --kind programs --rounds 1        # on the machine with the GPU

KERNELBENCH is a checkout. Each problem is compiled in a process that has a time limit; sizes are halved until no tensor
has more than --elements elements, 0 leaves them as they are. What is refused is in refused.txt.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KERNELBENCH = HERE.parent / "kernelbench"
sys.path.append(str(KERNELBENCH))

from checkout import problems  # noqa: E402


def compile_one(source: Path, folder: Path, number: int, elements: int, params: dict[str, str]) -> dict[str, Any]:
    """The case of a problem, whose kernel is written; `refused` says why there is none."""
    import torch
    import xetile.torch
    from problem import Problem
    from torch.utils._pytree import tree_leaves
    from xetile.torch.models import _Exported

    torch.set_num_threads(1)
    problem = Problem(source)
    if elements:
        problem = problem.shrunk(elements)
    try:
        model, inputs = problem.make(seed=1)
        exported = _Exported.of(model, tuple(inputs), {}, None, checked=False)
        kernel = xetile.compile(exported.module, target="sm_90a", schedule="gpu_model", params=params)
        file = f"p{number:03}.so"
        kernel.save(folder / file)
    except xetile.XeTileError as error:
        return {"name": source.stem, "refused": str(error)[:2000]}
    held = dict(model.named_parameters()) | dict(model.named_buffers())
    places = {tensor.data_ptr(): name for name, tensor in held.items()}
    count = len(kernel.signature.arguments) - len(exported.weights)
    given = [leaf for leaf in tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    if len(given) != count:
        return {"name": source.stem, "refused": f"the kernel takes {count} inputs, the model {len(given)} tensors"}
    arguments: list[tuple[str, Any]] = [("input", place) for place in range(count)]
    kept = {}
    for place, weight in enumerate(exported.weights):
        name = places.get(weight.data_ptr())
        if name is not None and held[name].shape == weight.shape:
            arguments.append(("state", name))
        else:
            kept[str(place)] = weight.detach().clone()
            arguments.append(("constant", str(place)))
    constants_file = f"p{number:03}.pt" if kept else ""
    if kept:
        torch.save(kept, folder / constants_file)
    results = [(list(spec.shape), str(spec.dtype)) for spec in kernel.signature.results]
    shutil.copy(source, folder / f"p{number:03}.py")
    return {
        "name": f"{source.parent.name}_{source.stem}", "kind": "programs", "file": file,
        "function": kernel.signature.name,
        "source": f"p{number:03}.py", "constants": problem.constants, "constants_file": constants_file,
        "arguments": arguments, "results": results,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--level", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", type=int, nargs="+")
    parser.add_argument("--elements", type=int, default=2_000_000)
    parser.add_argument("--seconds", type=float, default=120, help="that a problem may take")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--f32-units", choices=("matrix", "vector"), default="matrix", help="that multiply f32")
    options = parser.parse_args()
    params = {"f32_units": options.f32_units}
    if options.one is not None:
        print(json.dumps(compile_one(options.checkout, options.folder, options.one, options.elements, params)))
        return 0
    options.folder.mkdir(parents=True, exist_ok=True)

    def one(job: tuple[int, Path]) -> dict[str, Any]:
        number, source = job
        command = [sys.executable, "-W", "ignore", __file__, options.folder, source, "--one", number]
        command += ["--elements", options.elements, "--f32-units", options.f32_units]
        try:
            done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=options.seconds)
            lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
            row = json.loads(lines[-1]) if lines else {"refused": f"exit {done.returncode}: {done.stderr[-500:]}"}
        except subprocess.TimeoutExpired:
            row = {"refused": f"over {options.seconds:.0f} s"}
        print(source.stem, row.get("refused", "compiled").splitlines()[-1][:200], flush=True)
        return {"name": source.stem, **row}

    sources = [file for level in options.level for file in problems(options.checkout, level, options.only)]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(one, enumerate(sources)))
    cases = [row for row in rows if "refused" not in row]
    (options.folder / "cases.json").write_text(json.dumps(cases, indent=1))
    refused = [f"{row['name']}: {row['refused']}" for row in rows if "refused" in row]
    (options.folder / "refused.txt").write_text("\n".join(refused) + "\n")
    from xetile.kernels import cuda

    shutil.copy(cuda.library_path(), options.folder)
    for file in HERE.glob("*.py"):
        if file.name in ("on_device.py", "supervised.py") or file.name.endswith("_kernels.py"):
            shutil.copy(file, options.folder)
    shutil.copy(KERNELBENCH / "problem.py", options.folder)
    print(f"{options.folder}: {len(cases)} of {len(rows)} problems are compiled, refused.txt has the others")
    return 0


if __name__ == "__main__":
    sys.exit(main())
