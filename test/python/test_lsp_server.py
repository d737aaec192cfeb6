# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xetile-lsp-server: an editor's session about a kernel and a schedule of ours."""

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "build" / "bin" / "xetile-lsp-server"
pytestmark = pytest.mark.skipif(not SERVER.exists(), reason="this LLVM has no libMLIRLspServerLib.a")

KERNEL = """func.func @f(%m: memref<64x64xf16>) {
  %tile = xetile.init_tile %m[0, 0] : memref<64x64xf16> -> !xetile.tile<32x32xf16>
  %v = xetile.load_tile %tile : !xetile.tile<32x32xf16> -> vector<32x32xf16>
  return
}
"""
SCHEDULE = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    transform.xetile.refuse_rest in %module : !transform.any_op
    transform.yield
  }
}
"""


def ask(text: str, *requests: tuple[str, dict]) -> list[dict]:
    """Opens a file with `text`; the server's messages, in order."""
    uri = "file:///kernel.mlir"
    document = {"uri": uri, "languageId": "mlir", "version": 1, "text": text}
    messages = [
        {"id": 0, "method": "initialize", "params": {"processId": 1, "rootUri": None, "capabilities": {}}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
        *(
            {"id": number, "method": method, "params": {"textDocument": {"uri": uri}, **params}}
            for number, (method, params) in enumerate(requests, 1)
        ),
        {"id": 99, "method": "shutdown", "params": None},
        {"method": "exit", "params": None},
    ]
    sent = b""
    for message in messages:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        sent += f"Content-Length: {len(data)}\r\n\r\n".encode() + data
    done = subprocess.run([SERVER], input=sent, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    answers, rest = [], done.stdout
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(head.partition(b"Content-Length: ")[2].split()[0])
        answers.append(json.loads(rest[:length]))
        rest = rest[length:].lstrip()
    return answers


def answer(answers: list[dict], number: int):
    return next(message["result"] for message in answers if message.get("id") == number)


def said(answers: list[dict]) -> list[dict]:
    return [
        diagnostic
        for message in answers
        if message.get("method") == "textDocument/publishDiagnostics"
        for diagnostic in message["params"]["diagnostics"]
    ]


def at(line: int, character: int) -> dict:
    return {"position": {"line": line, "character": character}}


def test_a_kernel_of_ours_has_no_diagnostics_hovers_and_definitions():
    hover, definition = ("textDocument/hover", at(2, 10)), ("textDocument/definition", at(2, 27))
    answers = ask(KERNEL, hover, definition)
    assert said(answers) == []
    assert "xetile.load_tile" in answer(answers, 1)["contents"]["value"]
    assert answer(answers, 2)[0]["range"]["start"]["line"] == 1


def test_a_schedule_of_ours_is_known():
    assert said(ask(SCHEDULE)) == []


def hovered(text: str, name: str) -> str:
    """What is shown of the first operation of that name."""
    line = next(number for number, line in enumerate(text.splitlines()) if name in line)
    hover = ("textDocument/hover", at(line, text.splitlines()[line].index(name) + 3))
    return answer(ask(text, hover), 1)["contents"]["value"]


@pytest.mark.parametrize(
    ("text", "name", "page"),
    [
        (KERNEL, "xetile.load_tile", "dialects/xetile.md"),
        (SCHEDULE, "transform.xetile.refuse_rest", "transform-ops.md"),
    ],
)
def test_a_hover_has_what_the_definition_says(text, name, page):
    told = hovered(text, name)
    assert told.startswith(f'"{name}"')
    part = (ROOT / "docs" / page).read_text().partition(f"### `{name}`")[2]
    summary = next(line for line in part.splitlines() if line.startswith("_"))
    assert summary in told and "| Operand | Description |" in told
    # Only this one's: the next heading of the page is another operation's.
    assert "### `" not in told


def test_a_hover_on_upstreams_steps_of_schedules_has_their_definition_too():
    text = SCHEDULE.replace(
        "    transform.yield",
        """    %f = transform.structured.match ops{["func.func"]} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.yield""",
    )
    assert said(ask(text)) == []
    told = hovered(text, "transform.structured.match")
    assert "Match op with the specified constraints, within the target op." in told


def test_other_hovers_and_text_that_is_no_message_stay_as_they_are():
    # Of the dialect func the pages say nothing; --help is no message.
    assert hovered(KERNEL.replace("  return", "  func.return"), "func.return").rstrip().endswith("```")
    told = subprocess.run([SERVER, "--help"], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0 and told.stdout.startswith("OVERVIEW: ") and "--lit-test" in told.stdout


def test_an_error_is_told_at_its_place():
    (error, *_) = said(ask(KERNEL.replace("-> vector<32x32xf16>", "-> vector<32x16xf16>")))
    assert error["range"]["start"]["line"] == 2
    assert "xetile.load_tile" in error["message"]
