# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR in the generated reference: steps of schedules, operations, types and attributes as they can be copied parse;
abbreviated code before and after a pass names operations that there are."""

import re
from pathlib import Path

import pytest
from xetile.mlir import ir

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("docs/dialects/xetile.md", "docs/transform-ops.md", "docs/passes.md")
# Of other projects; passes take their code in generic form.
FOREIGN = ("tm_tensor", "torch")
_OTHER_TYPE = re.compile(r"use of value '(%[\w.$-]+)' expects different type than prior uses: '(.*?)' vs '")
_RESULTS = re.compile(r"(?:\s*(?:%[\w$]+(?::\d+)?(?:, )?)+ = )?")
_OP = re.compile(r"(?:^ *|= |{ )((?:[a-z_]\w*\.)+[a-z_]\w*)(?! ?[=\w.])", re.MULTILINE)
_MAP = "#xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>"


def boxes(page: str) -> list[str]:
    found = re.findall(r"^```mlir\n(.*?)^```$", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    assert len(found) > 20
    return [re.sub(r" *//.*", "", text) for text in found]


def parse(text: str) -> str:
    """The error of a module, or nothing."""
    with ir.Context() as context:
        context.attach_diagnostic_handler(lambda _: True)
        try:
            ir.Module.parse(text)
        except ir.MLIRError as error:
            return str(error)
    return ""


def wrapped(text: str, values: dict[str, str]) -> str:
    """A module with the code in a function or a sequence that has the values as arguments."""
    arguments = ", ".join(f"{name}: {kind}" for name, kind in values.items())
    if text.startswith("transform.named_sequence"):
        return f"module attributes {{transform.with_named_sequence}} {{\n{text}}}"
    if "transform." not in text:
        return f"func.func @f({arguments}) {{\n{text}\nreturn }}"
    return (
        "module attributes {transform.with_named_sequence} {\n"
        f"transform.named_sequence @s({arguments}) {{\n{text}\ntransform.yield }} }}"
    )


def parse_code(text: str) -> str:
    """The error of code whose operands and maps come from elsewhere, operands of the types that it asks for; or
    nothing."""
    if text.startswith(("!", "#")):
        kinds = [line.partition(" = ")[2] if re.match(r"#\w+ = ", line) else line for line in text.splitlines()]
        return parse("".join(f"func.func private @f{n}() attributes {{a = {kind}}}\n" for n, kind in enumerate(kinds)))
    made = {name for line in text.splitlines() for name in re.findall(r"%[\w$]+", _RESULTS.match(line)[0])}
    kind = "!transform.any_op" if "transform." in text else "index"
    values = {name: kind for name in re.findall(r"%[\w$]+", text) if name not in made}
    maps = "".join(f"#{name} = {_MAP}\n" for name in dict.fromkeys(re.findall(r"#([a-z]\w*)(?=[,}>])", text)))
    error = ""
    for _ in range(3 * len(values) + 1):
        error = parse(maps + wrapped(text, values))
        found = _OTHER_TYPE.search(error)
        if not found or found[1] not in values:
            break
        values[found[1]] = found[2]
    return error


def copied(page: str) -> list[str]:
    """Boxes that a reader copies: of an operation, its types and attributes, or of a step of schedules."""
    first = "transform." if "transform" in page else ("xetile.", "%", "!", "#")
    return [text for text in boxes(page) if re.sub(r"^%[\w:, %]+ = ", "", text).startswith(first)]


@pytest.mark.parametrize("page", PAGES[:2])
def test_what_can_be_copied_parses(page):
    texts = copied(page)
    wrong = {text: error for text in texts if "..." not in text and (error := parse_code(text))}
    assert not wrong, "\n\n".join(f"{text}{error}" for text, error in wrong.items())
    assert len(texts) > 12


@pytest.mark.parametrize("page", PAGES)
def test_every_operation_that_is_named_is_there(page):
    named = {name for text in boxes(page) for name in _OP.findall(text)}
    with ir.Context() as context:
        wrong = {name for name in named if not name.startswith(FOREIGN) and not context.is_registered_operation(name)}
    assert wrong == set()
    assert len(named) > 12
