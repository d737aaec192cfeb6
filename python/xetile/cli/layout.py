# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `xetile layout`: tables, plans and pictures of DPAS operands and wg_maps."""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import TYPE_CHECKING, Any

from xetile.errors import XeTileError
from xetile.system import output

if TYPE_CHECKING:
    from xetile.layout import Dpas

__all__ = ["add_parser"]

_EPILOG = """\
examples:
  xetile layout --dpas A --shape 256x32 --type f16 --rep-cluster 4x2 --subgroups 8x4 --hw-view --subgroup 0
  xetile layout --dpas B --shape 32x256 --type f16 --rep-cluster 4x2 --subgroups 8x4 --order 0,1 --plan
  xetile layout --dpas A --shape 256x32 --type f16 --rep-cluster 4x2 --subgroups 8x4 --png a.png
  xetile layout --shape 128x128 --subgroups 2x2 --sg-data 32x128 --svg map.svg
  xetile layout --shape 256x32 --subgroups 32x1 --sg-data 8x32 --type f16 --access prefetch --plan
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds `layout` to the subparsers of `xetile`; its handler is the default `command` and returns the status."""
    parser = commands.add_parser(
        "layout",
        help="show which lane holds what, and the 2D block messages that load it",
        description="Without --hw-view, --plan, --json, --svg and --png: who holds each element of the tensor.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_argument_group("what")
    what.add_argument("--dpas", choices=("A", "B", "C"), help="the operand: A is m x k, B is k x n, C is m x n")
    what.add_argument("--shape", type=_pair, required=True, metavar="RxC", help="the workgroup's tile")
    what.add_argument("--type", metavar="TYPE", help="its elements: f32, tf32, f16, bf16, i32, i8, u8, i4, ...")
    what.add_argument("--subgroups", type=_pair, default=(1, 1), metavar="MxN", help="of the workgroup (default: 1x1)")
    what.add_argument(
        "--rep-cluster", type=_pair, default=(1, 1), metavar="MxN", help="instructions side by side (default: 1x1)"
    )
    what.add_argument("--repeat-count", type=int, default=8, metavar="M", help="rows of one instruction (default: 8)")
    what.add_argument(
        "--inputs", default="f16", metavar="TYPE", help="with --dpas C: A's and B's elements (default: f16)"
    )
    what.add_argument("--sg-data", type=_pair, metavar="RxC", help="instead of --dpas: the wg_map with these pieces")
    how = parser.add_argument_group("memory and messages")
    how.add_argument(
        "--order", choices=("1,0", "0,1"), default="1,0", help="1,0: rows contiguous (default); 0,1: columns contiguous"
    )
    how.add_argument("--access", choices=("load", "store", "prefetch"), default="load", help="(default: load)")
    how.add_argument("--one-matrix", action="store_true", help="a message brings at most one DPAS operand")
    how.add_argument("--target", default="pvc", metavar="CHIP", help="whose limits hold (default: pvc)")
    output = parser.add_argument_group("output")
    output.add_argument("--hw-view", action="store_true", help="a row per register, a column per lane")
    output.add_argument("--subgroup", type=int, metavar="N", help="show only this one in the hardware's view")
    output.add_argument("--plan", action="store_true", help="messages, register map, and how the plan grows")
    output.add_argument("--json", action="store_true", help="the plan as JSON")
    picture = output.add_mutually_exclusive_group()
    picture.add_argument("--svg", metavar="FILE", help="draw it; needs matplotlib")
    picture.add_argument("--png", metavar="FILE", help="draw it; needs matplotlib")
    parser.set_defaults(command=_run)
    return parser


def _pair(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,9})x(\d{1,9})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"expected two sizes like 256x32, got {text!r}")
    return int(match[1]), int(match[2])


def _run(options: argparse.Namespace) -> int:
    if (options.dpas is None) == (options.sg_data is None):
        raise XeTileError("layout: expected either --dpas A|B|C or --sg-data RxC")
    picture = _picture(options)
    if options.sg_data:
        return _run_wg_map(options, picture)
    return _run_dpas(options, picture)


def _picture(options: argparse.Namespace) -> str | None:
    for suffix in ("svg", "png"):
        name = getattr(options, suffix)
        if name and not name.lower().endswith(f".{suffix}"):
            raise XeTileError(f"--{suffix} {name}: expected a file name that ends in .{suffix}")
    chosen: str | None = options.svg or options.png
    return chosen


def _run_wg_map(options: argparse.Namespace, picture: str | None) -> int:
    from xetile import layout

    if options.hw_view:
        raise XeTileError("--hw-view: expected --dpas; a wg_map has no lanes")
    shape, sg_layout, sg_data = options.shape, options.subgroups, options.sg_data
    if options.plan or options.json:
        return _plan_prefetch(options)
    owners = layout.wg_map_owners(shape, sg_layout, sg_data)
    if picture:
        from xetile.layout import draw

        title = f"{_text(shape)}: sg_layout = {list(sg_layout)}, sg_data = {list(sg_data)}"
        draw.draw_wg_map(shape, sg_layout, sg_data, picture, title=title)
        return 0
    for (row, col), ids in owners.items():
        rows, cols = f"{row}:{row + sg_data[0]}", f"{col}:{col + sg_data[1]}"
        print(f"[{rows}, {cols}] subgroup{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}")
    return 0


def _plan_prefetch(options: argparse.Namespace) -> int:
    """The messages with which a subgroup prefetches one of its pieces: no lane holds anything of it."""
    from xetile import layout

    if options.access != "prefetch" or options.order != "1,0":
        raise XeTileError(
            f"--{'plan' if options.plan else 'json'}: expected --dpas, or --access prefetch of contiguous rows: "
            "the lanes of a load or store are those of an operand"
        )
    if options.type is None:
        raise XeTileError("layout: expected --type, the type of the tile's elements")
    layout.wg_map_owners(options.shape, options.subgroups, options.sg_data)  # refuses what is no wg_map
    piece = options.sg_data
    messages = layout.tile_messages("A", piece, options.type, target=options.target, access="prefetch")
    if options.json:
        print(json.dumps({"access": "prefetch", "messages": [message.to_json() for message in messages]}))
    else:
        plural = "s" * (len(messages) > 1)
        print(f"prefetch {_text(piece)} of {options.type} on {options.target}: {len(messages)} message{plural}")
        for number, message in enumerate(messages):
            print(f"  message {number}: {message}")
    return 0


def _run_dpas(options: argparse.Namespace, picture: str | None) -> int:
    from xetile import layout

    if options.type is None:
        raise XeTileError("layout: expected --type, the type of the operand's elements")
    dpas = _dpas(options)
    # The layout is right or wrong whatever the target; only plans ask it.
    operand = layout.dpas_layout(options.dpas, options.shape, options.type, dpas)
    request = {
        "target": options.target,
        "contiguous_dim": 1 if options.order == "1,0" else 0,
        "one_matrix": options.one_matrix,
        "access": options.access,
    }
    if options.json:
        print(json.dumps(layout.plan(options.dpas, options.shape, options.type, dpas, **request).to_json()))
    elif options.plan:
        print(layout.plan(options.dpas, options.shape, options.type, dpas, **request))
    if options.hw_view:
        sys.stdout.write(layout.hardware_view(operand, options.subgroup))
    if picture:
        _draw(options, picture, operand, dpas, request)
    if not (options.json or options.plan or options.hw_view or picture):
        sys.stdout.write(layout.tensor_view(operand))
    return 0


def _dpas(options: argparse.Namespace) -> Dpas:
    from xetile import layout

    inputs = options.inputs if options.dpas == "C" else options.type
    return layout.Dpas.of(
        inputs,
        repeat_count=options.repeat_count,
        subgroups=options.subgroups,
        rep_cluster=options.rep_cluster,
    )


def _draw(options: argparse.Namespace, path: str, operand: Any, dpas: Dpas, request: dict[str, Any]) -> None:
    from xetile import layout
    from xetile.layout import draw

    title = f"{options.dpas} {_text(options.shape)}, {options.type}"
    plan, warning = None, ""
    try:
        plan = layout.plan(options.dpas, options.shape, options.type, dpas, **request)
        title += f": {plan.title.partition(',')[2].strip()}"
    except XeTileError as error:
        # The picture shows the layout, which needs no messages; a plan that was asked for has failed before.
        warning = f"xetile: warning: no messages are drawn: {error}"
    draw.draw(operand, path, plan=plan, title=title, subgroup=options.subgroup or 0)
    if warning:
        output.complain(warning)


def _text(shape: tuple[int, int]) -> str:
    return f"{shape[0]}x{shape[1]}"
