# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops and branches of the host around a program: its `around`.

`{"steps": 3, "fed": [[argument, result], ...], "branch": argument or None}`: each step but the first takes results of
the one before for these arguments. With a branch all of it runs if the first element of that argument is above zero;
else the results are what the first step would take for them, or zeros.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from bounded import NUMPY, Bounded
from tensor_types import Type, require

FED = ("f16", "bf16", "f32", "f64")
COMPARED = {"f32": "arith.cmpf ogt", "f64": "arith.cmpf ogt", "i32": "arith.cmpi sgt", "i64": "arith.cmpi sgt"}


def draw(rng: random.Random, arguments: Sequence[Type], results: Sequence[Type]) -> dict[str, Any]:
    fed, free = [], list(range(len(results)))
    for argument, kind in enumerate(arguments):
        fitting = [result for result in free if results[result] == kind and kind.dtype in FED]
        if fitting and rng.random() < 0.8:
            fed.append([argument, rng.choice(fitting)])
            free.remove(fed[-1][1])
    compared = [
        argument for argument, kind in enumerate(arguments) if kind.dtype in COMPARED and kind.shape is not None
    ]
    branch = rng.choice(compared) if compared and rng.random() < 0.4 else None
    return {"steps": rng.choice([1, 2, 3, 4]), "fed": fed, "branch": branch}


def check(around: Mapping[str, Any], arguments: Sequence[Type], results: Sequence[Type]) -> None:
    """Invalid for what does not fit the program."""
    fed = around["fed"]
    for place in (0, 1):
        require(len({pair[place] for pair in fed}) == len(fed))
    for argument, result in fed:
        require(argument < len(arguments) and result < len(results) and arguments[argument] == results[result])
    branch = around["branch"]
    require(branch is None or (branch < len(arguments) and arguments[branch].dtype in COMPARED))
    require(around["steps"] > 0)
    require(all(kind.is_static for kind in (*arguments, *results)))


def write(
    around: Mapping[str, Any], arguments: Sequence[Type], results: Sequence[Type], names: Sequence[str], body: str
) -> str:
    """The function in MLIR; `body` computes `names` of %arg0, %arg1, ..."""
    source = {result: argument for argument, result in around["fed"]}
    taken = set(source.values())
    parameters = ", ".join(f"%{'given' if i in taken else 'arg'}{i}: {kind}" for i, kind in enumerate(arguments))
    kinds = ", ".join(map(str, results))
    lines = [f"%zero{j} = arith.constant {_zeros(kind)} : {kind}" for j, kind in enumerate(results) if j not in source]
    inits = [f"%given{source[j]}" if j in source else f"%zero{j}" for j in range(len(results))]
    inside = [f"%arg{source[j]}" if j in source else f"%last{j}" for j in range(len(results))]
    carried = ", ".join(f"{name} = {init}" for name, init in zip(inside, inits, strict=True))
    lines += [f"%bound{i} = arith.constant {i} : index" for i in sorted({0, 1, around["steps"]})]
    loop = (
        f"%stepped:{len(results)} = scf.for %step = %bound0 to %bound{around['steps']} step %bound1 "
        f"iter_args({carried}) -> ({kinds}) {{\n{body}\n  scf.yield {', '.join(names)} : {kinds}\n}}"
    )
    found = [f"%stepped#{j}" for j in range(len(results))]
    branch = around["branch"]
    if branch is None:
        lines.append(loop)
    else:
        kind, name = arguments[branch], f"%{'given' if branch in taken else 'arg'}{branch}"
        places = ", ".join(["%bound0"] * kind.rank)
        compared = "0.0" if kind.dtype[0] == "f" else "0"
        lines += [
            f"%element = tensor.extract {name}[{places}] : {kind}",
            f"%limit = arith.constant {compared} : {kind.dtype}",
            f"%condition = {COMPARED[kind.dtype]}, %element, %limit : {kind.dtype}",
            f"%chosen:{len(results)} = scf.if %condition -> ({kinds}) {{\n{loop}\n"
            f"scf.yield {', '.join(found)} : {kinds}\n}} else {{\nscf.yield {', '.join(inits)} : {kinds}\n}}",
        ]
        found = [f"%chosen#{j}" for j in range(len(results))]
    body = "\n".join("  " + line for text in lines for line in text.split("\n"))
    return f"func.func @f({parameters}) -> ({kinds}) {{\n{body}\n  return {', '.join(found)} : {kinds}\n}}\n"


def compute(
    around: Mapping[str, Any],
    results: Sequence[Type],
    arrays: Sequence[Any],
    step: Callable[[list[Any]], list[Bounded]],
) -> list[Bounded]:
    """The results, by those of single steps."""
    source = {result: argument for argument, result in around["fed"]}
    branch = around["branch"]
    if branch is not None and not np.ravel(arrays[branch])[0] > 0:
        zeros = [np.zeros([dim[0] for dim in kind.shape or ()], NUMPY[kind.dtype]) for kind in results]
        return [Bounded.exact(k.dtype, arrays[source[j]] if j in source else zeros[j]) for j, k in enumerate(results)]
    values = list(arrays)
    for _ in range(around["steps"]):
        found = step(values)
        for argument, result in around["fed"]:
            values[argument] = found[result]
    return found


def _zeros(kind: Type) -> str:
    number = "false" if kind.dtype == "i1" else "0.0" if kind.dtype in FED else "0"
    return f"dense<{number}>"
