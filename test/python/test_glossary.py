# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/glossary.md: one row for each word, in alphabetic order; the files that it names are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = [line.split("|")[1:3] for line in (ROOT / "docs" / "glossary.md").read_text().splitlines() if line[:2] == "| "]
WORDS = [word.strip().casefold() for word, _ in ROWS[1:]]


def test_words_are_in_order_and_each_is_there_once():
    assert sorted(set(WORDS)) == WORDS
    assert len(WORDS) > 60


def test_every_file_that_is_named_exists():
    named = {name for row in ROWS for cell in row for name in re.findall(r"`([\w/]+(?:\.h|\.py|/))`", cell)}
    known = [
        f"/{path.relative_to(ROOT)}" for folder in ("cpp", "schedules", "test") for path in (ROOT / folder).rglob("*")
    ]
    known.append("/schedules")
    assert {name for name in named if not any(path.endswith(f"/{name.rstrip('/')}") for path in known)} == set()
    assert len(named) > 5


COMMENT = re.compile(r"^\s*(?://+|#)\s*(What|Whether)\b|^\s*\"\"\"(What|Whether)\b")


def test_no_comment_begins_with_what_or_whether():
    """The field has a noun for it: backward slice, operand, epilogue; a predicate is "True if"."""
    assert COMMENT.match("  /// Whether it is.") and COMMENT.match('    """What it computes."""')
    found, read = [], 0
    for folder in ("cpp", "python"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in (".cpp", ".h", ".py"):
                continue
            before = ""
            for number, line in enumerate(path.read_text().splitlines(), 1):
                read += 1
                # The second line of a sentence may.
                if COMMENT.match(line) and not before.startswith(("//", "#")):
                    found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
                before = line.strip()
    assert read > 50_000 and not found, "\n".join(found)
