# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every box of the tutorial is typed, in a copy of its chapter's folder: commands succeed, and print what is shown."""

import re
import shutil

import pytest
import tutorial_boxes
from tutorial_boxes import CHAPTERS, TUTORIAL
from xetile.system import tools


@pytest.mark.parametrize("chapter", [chapter for chapter in CHAPTERS if not tutorial_boxes.needs(chapter, "torch")])
def test_every_box_of_a_chapter_does_what_it_shows(chapter, tmp_path):
    if chapter == "12_tuning" and tools.find_ocloc() is None:
        pytest.skip("no ocloc: scripts/install-ocloc")
    if chapter == "7_transform_op" and not shutil.which("clang++-22"):
        pytest.skip("no clang++-22: scripts/bootstrap installs it where LLVM is Debian's")
    tutorial_boxes.type_chapter(chapter, tmp_path)


def test_the_list_of_chapters_is_complete():
    listed = re.findall(r"\((\w+)/README\.md\)", (TUTORIAL / "README.md").read_text())
    assert listed == CHAPTERS


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapters_have_the_numbers_of_their_folders(chapter):
    title = (TUTORIAL / chapter / "README.md").read_text().splitlines()[0]
    assert title.startswith(f"# {chapter.partition('_')[0]}. ")
