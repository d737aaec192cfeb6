# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages in a browser, by clicking and typing: a GEMM, attention and a model, for a GPU and the CPU."""

import re
import shutil
from pathlib import Path

import pytest
from page_programs import ATTENTION, MATMUL, MODEL
from xetile.compiling import compiler
from xetile.system import tools

sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright: scripts/install-browser installs it")
BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium: scripts/install-browser installs it")

PROGRAMS = {"matmul": MATMUL, "attention": ATTENTION, "model": MODEL}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        # Chromium refuses its sandbox to root.
        started = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def open_page(folder, browser):
    """The page of a program, opened; anything that its script or the browser complains about fails the test."""
    made, opened = {}, []

    def show(name: str, target: str):
        if (name, target) not in made:
            source = folder / f"{name}.mlir"
            source.write_text(PROGRAMS[name])
            path = folder / f"{name}-{target}.html"
            compiler.show(source, target=target, path=path, printed_to=folder / f"{name}-{target}")
            made[name, target] = path
        page = browser.new_page(viewport={"width": 1800, "height": 1000}, java_script_enabled=True)
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on(
            "console", lambda said: page.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on(
            "request",
            lambda asked: None if asked.url.startswith(("file:", "data:")) else page.complaints.append(asked.url),
        )
        page.goto(Path(made[name, target]).as_uri())
        opened.append(page)
        return page

    yield show
    for page in opened:
        page.close()


EACH = [(name, target) for name in PROGRAMS for target in ("pvc", "cpu")]


def line_of(page, level: int, text: str):
    return page.locator(f"#level-{level} .l", has_text=text).first


@pytest.mark.parametrize(("name", "target"), EACH)
def test_every_tab_shows_something_and_nothing_complains(open_page, name, target):
    page = open_page(name, target)
    tabs = [button.get_attribute("data-tab") for button in page.locator("nav button").all()]
    assert {"levels", "passes", "why"} <= set(tabs)
    for number, tab in enumerate(tabs, 1):
        page.keyboard.press(str(number))
        shown = page.locator("main > section:visible")
        assert shown.count() == 1 and shown.get_attribute("id") == tab
        assert shown.inner_text().strip()
    assert page.complaints == []


@pytest.mark.parametrize(("name", "target"), EACH)
def test_a_click_marks_where_an_operation_came_from_and_what_it_became(open_page, name, target):
    page = open_page(name, target)
    page.click("nav button[data-tab=levels]")
    line_of(
        page, 0, "linalg.softmax" if name == "model" else "return" if name == "attention" else "linalg.matmul"
    ).click()
    assert page.locator(".own").count() == 1
    assert page.locator("#level-1 .into").count() > 0
    page.locator("#details .became a").first.click()
    assert "own" in page.locator("#level-1 .l.own").get_attribute("class")
    assert page.locator("#level-0 .from").count() > 0
    assert page.complaints == []


def test_a_matmul_is_followed_by_links_to_its_instructions(open_page):
    page = open_page("matmul", "pvc")
    line_of(page, 0, "linalg.matmul").click()
    page.locator("#details .became a", has_text="xegpu.dpas").click()
    assert "xegpu.dpas" in page.locator("#level-4 .own").text_content()
    assert page.locator("#level-4 .own").is_visible()
    assert "matmul.mlir:3:8" in page.locator("#details .source").inner_text()
    assert page.locator("#details .layouts svg").count() == 3
    assert page.locator("#level-5 .into", has_text="xevm.mma").count() > 0
    assert page.url.rpartition("#")[2].startswith("4:")


@pytest.mark.parametrize(("name", "target"), EACH)
def test_an_operation_is_followed_to_its_instructions_and_back(open_page, name, target):
    if target == "pvc" and tools.find_ocloc() is None:
        pytest.skip("no ocloc: scripts/install-ocloc")
    page = open_page(name, target)
    page.click("nav button[data-tab=levels]")
    code = page.locator(".pane").count() - 1
    assert "machine code" in page.locator(f"#level-{code} h2").inner_text()
    line_of(page, 0, "math.exp" if name == "attention" else "linalg.matmul").click()
    instructions = page.locator(f"#level-{code} .into")
    assert instructions.count() > 0
    if name == "matmul":
        opcode = "dpas" if target == "pvc" else "vfmadd"
        assert page.locator(f"#level-{code} .into", has_text=opcode).count() > 0
    # With their purposes; then one of them, and what it was made of.
    page.locator("#details a.instructions").click()
    picked = page.locator(".m.picked")
    assert picked.count() == instructions.count() and page.locator("#machine").is_visible()
    picked.first.click()
    assert page.locator("#levels").is_visible()
    assert page.locator(f"#level-{code} .own").count() == 1
    assert page.locator("#level-0 .from").count() > 0
    assert page.complaints == []


def test_the_chosen_line_stays_in_sight(open_page):
    """Below the levels there is room for what is known of it then, which they had before."""
    page = open_page("attention", "pvc")
    page.click("nav button[data-tab=levels]")
    line = page.locator("#level-4 .l", has_text="load_nd").first
    # As a user may have scrolled: it is the last one in sight.
    line.evaluate(
        "one => { const text = one.closest('.text');"
        " text.scrollTop = one.offsetTop - text.offsetTop - text.clientHeight + 20; }"
    )
    line.click()
    own, text = (page.locator(f"#level-4 {part}").bounding_box() for part in (".own", ".text"))
    assert text["y"] <= own["y"] and own["y"] + own["height"] <= text["y"] + text["height"]
    assert page.locator("#details .layouts svg").count() == 1


def test_keys_go_through_levels_operations_and_hits(open_page):
    page = open_page("matmul", "pvc")
    for key, level in (("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        assert page.locator(".pane.focus").get_attribute("id") == f"level-{level}"
    page.keyboard.press("ArrowDown")
    first = page.locator("#level-1 .own").get_attribute("data-l")
    page.keyboard.press("ArrowDown")
    assert int(page.locator("#level-1 .own").get_attribute("data-l")) > int(first)
    page.keyboard.press("/")
    page.keyboard.type("tile_mma")
    hits = page.locator(".hit").count()
    assert hits >= 3 and page.locator("#found").inner_text() == f"{hits} lines"
    page.keyboard.press("Enter")
    assert "tile_mma" in page.locator(".own").text_content()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    assert page.locator("#found").inner_text() == f"2 of {hits} lines"
    page.keyboard.press("Escape")
    assert page.locator(".own").count() == 0 and page.locator("#details").is_hidden()
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()


def test_differences_are_shown_on_demand(open_page):
    page = open_page("matmul", "pvc")
    fresh = line_of(page, 3, "tile_pack").locator("i")
    before = fresh.evaluate("one => getComputedStyle(one).borderRightColor")
    page.keyboard.press("d")
    assert fresh.evaluate("one => getComputedStyle(one).borderRightColor") != before
    page.click("#diff")
    assert fresh.evaluate("one => getComputedStyle(one).borderRightColor") == before


def test_passes_that_changed_nothing_are_hidden(open_page):
    page = open_page("matmul", "pvc")
    page.click("nav button[data-tab=passes]")
    few = page.locator(".pass").count()
    assert page.locator(".pass.same").count() == 0
    page.locator(".pass", has_text="xetile-blocking").click(position={"x": 300, "y": 5})
    assert "tile_pack" in page.locator(".diffs .plus").all_inner_texts().__str__()
    page.check("#all-passes")
    assert page.locator(".pass").count() > few


@pytest.mark.parametrize("tab", ["passes", "levels"])
def test_a_link_shows_what_a_pass_does(open_page, tab):
    page = open_page("matmul", "pvc")
    page.click(f"nav button[data-tab={tab}]")
    if tab == "levels":
        line_of(page, 3, "tile_mma").click()
    page.locator(f"#{tab} a.read", has_text=re.compile("^xetile-blocking$")).click()
    told = page.locator("#document")
    assert told.is_visible()
    assert "xetile.tile_pack" in " ".join(told.locator("pre.listing").all_inner_texts())
    assert told.locator("code").count() > 0 and "`" not in told.inner_text()
    page.keyboard.press("Escape")
    assert told.is_hidden()
    assert page.complaints == []


def test_a_program_begins_with_its_graph(open_page):
    page = open_page("model", "pvc")
    assert page.locator(".graph .kernel").count() == 2
    assert page.locator(".graph .edge").count() == 4
    page.locator(".graph .kernel").nth(1).click()
    told = page.locator("#kernel").inner_text()
    assert "schedule matmul_rows" in told and "the caller reads it" in told and "bound by memory" in told
    assert "Data Center GPU Max 1550 takes" in page.locator("#program p").first.inner_text()
    page.locator("#kernel a").last.click()
    assert page.locator("#levels").is_visible()
    assert "linalg.softmax" in page.locator("#level-0 .own").text_content()


def test_a_level_is_folded_away_and_a_link_leads_to_a_line(open_page):
    page = open_page("matmul", "pvc")
    page.locator("#level-2 h2").click()
    assert page.locator("#level-2 .text").is_hidden()
    line = line_of(page, 3, "tile_mma").get_attribute("data-l")
    page.goto(f"{page.url.partition('#')[0]}#3:{line}")
    page.reload()
    assert "tile_mma" in page.locator("#level-3 .own").text_content()
