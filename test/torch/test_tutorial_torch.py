# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chapters of the tutorial that need PyTorch; test/examples/test_tutorial.py has the others."""

import pytest
import tutorial_boxes

pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")


@pytest.mark.parametrize(
    "chapter", [chapter for chapter in tutorial_boxes.CHAPTERS if tutorial_boxes.needs(chapter, "torch")]
)
def test_every_box_of_a_chapter_does_what_it_shows(chapter, tmp_path):
    tutorial_boxes.type_chapter(chapter, tmp_path)
    if (exported := tutorial_boxes.TUTORIAL / chapter / "exported.mlir").exists():
        licensed, _, text = exported.read_text().partition("\n")
        assert licensed.startswith("// SPDX") and (tmp_path / chapter / "model.mlir").read_text() == text
