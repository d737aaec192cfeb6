# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No function of the C++ is longer than 60 lines, or the comment above it says why: `// Long: a table of ...`.

Lines are counted from the name's to the closing brace's, with the lambdas in it. clang-tidy's readability-function-size
counts, too, but cannot read a reason, and takes minutes.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MOST = 60
# Comments, raw strings, strings and characters: braces in them are none. 1'000 is a number.
TEXT = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\])+'""", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
SCOPE = re.compile(r"(?:template\s*<.*>\s*)?(?:inline\s+)?(?:namespace|class|struct|enum|union|extern)\b", re.S)

INITIALIZER_ENDS = re.compile(r"\s*[,{]")


class Function(NamedTuple):
    name: str
    first: int  # its lines, from 1 on
    last: int
    above: str  # the comment directly before it


def functions(text: str) -> Iterator[Function]:
    """Those of a source, outermost ones only; braces of initializers and scopes begin none."""
    code = TEXT.sub(blank, text)
    code = DIRECTIVE.sub(blank, code)
    open_braces = 0
    outer: tuple[int, int] | None = None  # where the function began, and how many braces were open
    previous = 0  # behind the last brace or semicolon
    for found in re.finditer(r"[;{}]", code):
        head = code[previous : found.start()]
        if found.group() == "{":
            if outer is None and begins_function(head):
                outer = previous + len(head) - len(head.lstrip()), open_braces
            open_braces += 1
        elif found.group() == "}":
            open_braces -= 1
            # A member's initializer is followed by the next one, or by the body.
            if outer is not None and open_braces == outer[1] and not INITIALIZER_ENDS.match(code, found.end()):
                first = code.count("\n", 0, outer[0]) + 1
                name = re.split(r"\(", code[outer[0] : found.start()], maxsplit=1)[0].split()[-1]
                yield Function(name, first, code.count("\n", 0, found.start()) + 1, comment_above(text, first))
                outer = None
        previous = found.end()
    assert open_braces == 0


def blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found.group())


def begins_function(head: str) -> bool:
    head = re.sub(r"^\s*(?:public|private|protected)\s*:", "", head).strip()
    return (
        "(" in head and not SCOPE.match(head) and not re.search(r"(?<![=!<>])=\s*$", re.sub(r"\boperator\S+", "", head))
    )


def comment_above(text: str, line: int) -> str:
    lines = text.splitlines()[: line - 1]
    comment: list[str] = []
    while lines and lines[-1].lstrip().startswith("//"):
        comment.insert(0, lines.pop())
    return "\n".join(comment)


SOURCES = sorted(path for path in (ROOT / "cpp").rglob("*") if path.suffix in (".cpp", ".h"))


@pytest.mark.parametrize("room", sorted({path.relative_to(ROOT).parts[1] for path in SOURCES}))
def test_a_function_is_short_or_says_why_not(room):
    long = []
    for path in SOURCES:
        place = path.relative_to(ROOT)
        if place.parts[1] == room:
            long += [
                f"{place}:{function.first}: {function.name} has {function.last - function.first + 1} lines"
                for function in functions(path.read_text())
                if function.last - function.first >= MOST and "// Long: " not in function.above
            ]
    assert not long, f"split them, or give the reason above, as '// Long: a table of ...': {long}"


def test_no_reason_is_left_where_a_function_is_short():
    for path in SOURCES:
        text = path.read_text()
        reasons = sum(
            "// Long: " in function.above for function in functions(text) if function.last - function.first >= MOST
        )
        assert text.count("// Long: ") == reasons, path


def test_functions_are_found():
    body = "  work();\n" * 3
    text = (
        "namespace a {\nstruct B {\n  int c = {1};\n"
        "  // Long: a table.\n  void d() const {\n" + body + "  }\n};\n"
        "static int e[] = {f(1), 2};\n"
        'template <typename T> T g(T h) {\n  auto i = [&] { return "}"; };\n  return {i()};\n}\n'
        'const char *j = R"cl({{{)cl";\n#define K() {\n'
        "L::L(int m)\n    : n{m}, o(m) {}\n}\n"
    )
    found = list(functions(text))
    assert [(function.name, function.last - function.first + 1) for function in found] == [
        ("d", 5),
        ("g", 4),
        ("L::L", 2),
    ]
    assert found[0].above == "  // Long: a table."


def test_most_of_the_tree_is_read():
    names = {function.name for path in SOURCES for function in functions(path.read_text())}
    assert len(names) > 1500
    assert {"xetile::gather", "LaneMap::broadcast", "NB_MODULE", "xetile::blockTiles"} <= names
