# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The site of `make docs`: it builds without a warning, no link leads nowhere or to the network, MLIR is coloured."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "docs.py"
pytest.importorskip("myst_parser", reason="no Sphinx: scripts/install-docs installs it")

spec = importlib.util.spec_from_file_location("site_script", SCRIPT)
docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, SCRIPT, "--without-levels", "--out", out], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return out


def test_every_page_of_the_tree_and_of_the_package_is_there(site):
    for path in (*ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/README.md"), ROOT / "README.md"):
        assert (site / path.relative_to(ROOT).with_suffix(".html")).is_file(), path
    commands = (site / "reference" / "commands.html").read_text()
    for command in ("stages", "compile", "layout"):
        assert f"xetile {command}" in commands
    assert "--from LEVEL" in commands
    assert "xetile.Kernel.page" in (site / "reference" / "python.html").read_text()
    assert "workgroup_m" in (site / "reference" / "schedules.html").read_text()
    targets = (site / "reference" / "targets.html").read_text()
    for word in ("pvc", "sm_90a", "cpu", "6-llvm", "prefetch_payloads", "prefetch-payloads", "group_rows", "fuse"):
        assert word in targets


def test_each_chapter_links_a_page_of_levels(site):
    chapters = [path.name for path in (ROOT / "examples" / "tutorial").iterdir() if path.is_dir()]
    assert sorted(docs.OF_CHAPTERS) == sorted(chapters)
    for chapter in chapters:
        text = (site / "examples" / "tutorial" / chapter / "README.html").read_text()
        assert f'href="../../../levels/{docs.OF_CHAPTERS[chapter]}.html"' in text


def test_each_page_of_levels_is_made_of_a_program_or_by_a_box():
    assert {*docs.LEVELS} & {*docs.OF_BOXES} == set()
    assert {*docs.OF_CHAPTERS.values()} <= {*docs.LEVELS, *docs.OF_BOXES}
    for chapter, name in docs.OF_BOXES.values():
        assert name in (ROOT / "examples" / "tutorial" / chapter / "README.md").read_text()


def test_mlir_is_coloured(site):
    text = (site / "docs" / "passes.html").read_text()
    assert re.search(r'highlight-mlir[^>]*>.*?<span class="nv">%\w+</span>', text, re.DOTALL)


def test_a_link_to_a_place_shows_it_at_once(site):
    sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright: scripts/install-browser installs it")
    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if browser is None:
        pytest.skip("no Chromium: scripts/install-browser installs it")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = started.new_page(viewport={"width": 1300, "height": 700})
        page.goto(f"{(site / 'docs' / 'passes.html').as_uri()}#xetile-wg-to-sg")
        top = page.evaluate("document.getElementById('xetile-wg-to-sg').getBoundingClientRect().top")
        started.close()
    assert 0 <= top < 200


def test_nothing_is_loaded_from_the_network(site):
    for page in site.rglob("*.html"):
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page.read_text()):
            assert not re.search(r'(?:src|href)="(?:https?:)?//', tag), (page, tag)
    for style in site.rglob("*.css"):
        assert not re.search(r"""(?:@import|url\()\s*["']?https?:""", style.read_text()), style


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a href="b.html">1</a><a href="c.html">2</a><a href="b.html#in">3</a>'
        '<a href="b.html#out">4</a><a href="#top">5</a><a href="https://mlir.llvm.org/">6</a><img src="p.png">'
    )
    (tmp_path / "b.html").write_text('<p id="in"></p>')
    assert docs.broken_links(tmp_path) == [("a.html", "b.html#out"), ("a.html", "c.html"), ("a.html", "p.png")]


def test_a_broken_link_in_a_page_of_the_tree_fails_the_build(site, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "conf.py").write_text((ROOT / "docs" / "site" / "conf.py").read_text())
    (source / "_levels").mkdir()
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", source, tmp_path / "out"]
    for text, status in (("# A page\n\n[there](other.md)\n", 1), ("# A page\n\n[there](#a-page)\n", 0)):
        (source / "index.md").write_text(text)
        assert subprocess.run(command, capture_output=True, timeout=600).returncode == status, text
