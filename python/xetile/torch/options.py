# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What users may choose for models, as arguments of `xetile.compile(..., target="cpu")`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from xetile import schedule as schedules
from xetile.schedule import Schedule
from xetile.targets import Target

__all__ = ["kernel_options"]


def kernel_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` with as many threads as PyTorch uses, unless it says how many, checked.

    With a `schedule` (a Schedule, a name or a path) `threads` is its parameter of that name, if it has one; `params`
    gives others. XeTileError for options that do not exist or fit.
    """
    options = {name: value for name, value in given.items() if name != "schedule" or value is not None}
    if "schedule" not in options:
        options.setdefault("threads", torch.get_num_threads())
    else:
        chosen = options["schedule"]
        schedule = chosen if isinstance(chosen, Schedule) else schedules.load(chosen)
        params = schedules.values_of(options.get("params"))
        if "threads" in schedule.params:
            own = schedule.params["threads"]
            threads = options.pop("threads", torch.get_num_threads() if own.value == own.default else own.value)
            params.setdefault("threads", threads)
        options |= {"schedule": schedule, "params": params}
    rest = {name: value for name, value in options.items() if name not in ("schedule", "params")}
    Target("cpu").plan(options.get("schedule"), schedules.values_of(options.get("params")), rest)
    return options
