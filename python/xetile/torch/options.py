# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of models, as arguments of `xetile.compile`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from xetile import schedule as schedules
from xetile.schedule import Schedule
from xetile.targets import Target

__all__ = ["kernel_options"]


def kernel_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` with its target, "cpu" by default, and as many threads as PyTorch uses unless it says how many, checked.

    With a `schedule` (a Schedule, a name or a path) `threads` is its parameter of that name, if it has one; `params`
    gives others. GPUs have no threads. XeTileError for options that do not exist or fit.
    """
    options = {name: value for name, value in given.items() if name != "schedule" or value is not None}
    target = options["target"] = Target("cpu") if options.get("target") is None else _target(options["target"])
    if "schedule" in options:
        chosen = options["schedule"]
        schedule = chosen if isinstance(chosen, Schedule) else schedules.load(chosen)
        params = schedules.values_of(options.get("params"))
        if "threads" in schedule.params:
            own = schedule.params["threads"]
            threads = options.pop("threads", torch.get_num_threads() if own.value == own.default else own.value)
            params.setdefault("threads", threads)
        options |= {"schedule": schedule, "params": params}
    elif any(option.name == "threads" for option in target.options):
        options.setdefault("threads", torch.get_num_threads())
    rest = {name: value for name, value in options.items() if name not in ("schedule", "params", "target")}
    target.plan(options.get("schedule"), schedules.values_of(options.get("params")), rest)
    return options


def _target(named: Any) -> Target:
    return named if isinstance(named, Target) else Target(named)
