# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every box of the tutorial is typed, in a copy of its chapter's folder: commands succeed, and print what is shown."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from xetile.system import tools

TUTORIAL = Path(__file__).resolve().parents[2] / "examples" / "tutorial"
CHAPTERS = sorted(path.name for path in TUTORIAL.iterdir() if path.is_dir())


def boxes(text: str) -> list[tuple[str, str]]:
    """(language, content) of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def run(command: list[str], folder: Path) -> str:
    ocloc = tools.find_ocloc()
    variables = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XETILE_CACHE": str(folder.parent / "cache"),
        **({"XETILE_OCLOC": str(ocloc)} if ocloc else {}),
    }
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_box_of_a_chapter_does_what_it_shows(chapter, tmp_path):
    folder = tmp_path / chapter
    shutil.copytree(TUTORIAL / chapter, folder)
    printed, ran = "", 0
    for language, content in boxes((folder / "README.md").read_text()):
        if language == "text":
            missing = [line for line in content.splitlines() if line not in printed]
            assert not missing, f"{missing} is not in\n{printed}"
            continue
        assert language in ("sh", "python"), f"expected boxes of sh, python or text, got {language!r}"
        ran += 1
        if language == "sh":
            printed = run(["bash", "-e", "-o", "pipefail", "-c", content], folder)
        else:
            (folder / "box.py").write_text(content)
            printed = run([sys.executable, "box.py"], folder)
    assert ran


def test_the_list_of_chapters_is_complete():
    listed = re.findall(r"\((\w+)/README\.md\)", (TUTORIAL / "README.md").read_text())
    assert listed == CHAPTERS
