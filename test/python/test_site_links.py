# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links of the pages that the site is made of lead to what it has; test_site.py builds it where Sphinx is installed."""

import importlib.util
import re
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "docs.py"
spec = importlib.util.spec_from_file_location("site_links_script", SCRIPT)
docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs)


def test_every_page_that_is_linked_is_copied(tmp_path):
    docs.stage(tmp_path / "source")
    missing, seen = set(), 0
    for page in (tmp_path / "source").rglob("*.md"):
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", text):
            seen += 1
            # The reference is written when the site is built.
            if not link.startswith("reference/") and not (page.parent / link).exists():
                missing.add((str(page.relative_to(tmp_path / "source")), link))
    assert missing == set()
    assert seen > 30
