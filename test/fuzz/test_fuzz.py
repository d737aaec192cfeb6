# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random cases of each kind, from a fresh seed: 20,000 of each but `programs` were seen. `make fuzz` checks more."""

import subprocess
import sys
from pathlib import Path

import corpus
import kinds
import pipelines
import pytest

FUZZ = Path(__file__).parent
# 200 of each kind but of those of which a case takes a tenth of a second or more and that other tests of the same
# ops stand beside.
COUNTS = {
    "subgroups": 20,
    "workgroups": 20,
    "gpu": 40,
    "splits": 10,
    "edits": 60,
    "cpu": 60,
}


@pytest.mark.parametrize("kind", kinds.MODULES)
def test_random_cases_have_no_finding(kind, seed):
    """In a process of its own: workers are forked from one that has imported nothing heavy."""
    run = subprocess.run(
        [sys.executable, FUZZ, "--kind", kind, "-n", str(COUNTS.get(kind, 200)), "--seed", str(seed)],
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert run.returncode == 0, f"run again with XETILE_SEED={seed}\n{run.stdout}{run.stderr}"


def test_every_pass_of_ours_is_called():
    """The list comes from the tool's help: it has what the .td files define, and all their options."""
    names = {entry.name for entry in pipelines.ours()}
    defined = set()
    for path in (corpus.ROOT / "cpp").rglob("*Passes.td"):
        defined |= {line.split('"')[1] for line in path.read_text().splitlines() if line.startswith("def ")}
    assert defined <= names
    assert {"xetile-lower-to-binary", "xetile-lower-xegpu-to-binary", "xetile-lower-to-cpu", "xetile-compile"} <= names
    options = {option for entry in pipelines.ours() for option, _ in entry.options}
    assert {
        "chip",
        "xegpu-op-level",
        "config",
        "pack",
        "native",
        "O",
        "vector-bits",
        "large-register-file",
        "from",
        "threads",
    } <= options


def test_the_corpus_has_the_pieces_of_all_files_and_their_pipelines():
    chunks = corpus.chunks()
    assert len(chunks) > 300
    assert not any("// -----" in chunk.text or "// CHECK" in chunk.text for chunk in chunks)
    assert sum(bool(chunk.pipelines) for chunk in chunks) > 200
    assert sum(chunk.is_library for chunk in chunks) > 5
