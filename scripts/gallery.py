# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of pages of levels, which README.md shows: docs/images/page-*.png, by a headless Chromium.

usage: scripts/gallery.py          after scripts/install-browser; machine code needs ocloc, too (scripts/install-ocloc)
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from xetile.compiling import compiler

ROOT = Path(__file__).resolve().parents[1]
# (picture, payload, schedule, the tab that is opened, what is clicked in it)
PICTURES = (
    ("levels", "examples/tutorial/1_run/matmul.mlir", "matmul", None, "xetile.tile_mma"),
    ("machine", "examples/tutorial/1_run/matmul.mlir", "matmul", "Machine code", None),
    ("program", "examples/tutorial/5_epilogue/mlp.mlir", "gpu_model", "Program", None),
)


def main() -> int:
    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if browser is None:
        print("gallery: error: no Chromium: run scripts/install-browser", file=sys.stderr)
        return 1
    os.chdir(ROOT)  # pages name files as they were given
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name, payload, schedule, tab, clicked in PICTURES:
            path = Path(folder) / f"{name}.html"
            compiler.show(payload, target="pvc", path=path, check=True, schedule=schedule)
            page = started.new_page(viewport={"width": 1400, "height": 720})
            page.goto(path.as_uri())
            if tab is not None:
                page.get_by_role("button", name=tab).click()
            if clicked is not None:
                page.get_by_text(clicked).first.click()
            page.screenshot(path=ROOT / "docs" / "images" / f"page-{name}.png")
        started.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
