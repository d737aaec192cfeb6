# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorial's boxes, from the wheel. test/examples/test_tutorial.py has the same from the tree."""

import shutil

import pytest
import tutorial_boxes
from environments import with_torch
from xetile.system import tools

# Minutes together: the short form of `make test-wheel` types the first two.
FIRST = ("1_run", "2_levels")


@pytest.mark.parametrize(
    "chapter",
    [
        chapter if chapter in FIRST else pytest.param(chapter, marks=pytest.mark.exhaustive)
        for chapter in tutorial_boxes.CHAPTERS
    ],
)
def test_every_box_of_a_chapter_does_what_it_shows(chapter, folder, environment):
    if chapter == "12_tuning" and tools.find_ocloc() is None:
        pytest.skip("no ocloc: scripts/install-ocloc")
    if chapter == "7_transform_op" and not shutil.which("clang++-22"):
        pytest.skip("no clang++-22: scripts/bootstrap installs it where LLVM is Debian's")
    more = {}
    if tutorial_boxes.needs(chapter, "torch") and not (more := with_torch()):
        pytest.skip("no .venv-torch for this Python: scripts/bootstrap-torch makes it")
    tutorial_boxes.type_chapter(
        chapter, folder, environment.variables(PATH=f"{environment.place}/bin:/usr/bin:/bin", **more)
    )
