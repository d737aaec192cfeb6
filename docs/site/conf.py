# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sphinx's configuration of the site, which scripts/docs.py builds."""

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text


class MlirLexer(RegexLexer):
    """MLIR as printed: operations, values, types, attributes and their aliases."""

    name = "MLIR"
    aliases = ("mlir",)
    filenames = ("*.mlir",)
    tokens = {
        "root": [
            (r"//.*", Comment.Single),
            (r'"(?:[^"\\]|\\.)*"', String),
            (r"%[\w$.#-]+", Name.Variable),
            (r"[@][\w$.-]+", Name.Function),
            (r"[#!][\w$.]+", Name.Class),
            (r"\^[\w$.]+", Name.Label),
            (r"\b(?:0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b", Number),
            (r"\b(?:vector|tensor|memref|index|none|[iuf]\d+|bf16|tf32)\b", Keyword.Type),
            (r"\b([a-z_]\w*)(\.)([\w.]+)", bygroups(Name.Namespace, Operator, Name.Function)),
            (r"\b(?:module|return|ins|outs|attributes|iter_args|to|step|from|into|true|false)\b", Keyword),
            (r"\s+", Text),
            (r"\w+|.", Text),
        ]
    }


project = "xetile"
copyright = "the xetile authors"  # noqa: A001  Sphinx's name
extensions = ["myst_parser"]
exclude_patterns = ["_levels"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = "xetile"
html_extra_path = ["_levels"]
html_copy_source = False
myst_heading_anchors = 5
# Code in documentation is prose's and IR with "..." in it: a lexer that stumbles is no error. A link that does is.
# Generated pages leave out a level of headings.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]


def jump(app, pagename, templatename, context, doctree):
    """The theme scrolls to a place smoothly: pages of 50,000 pixels are blank for a second then."""
    context["metatags"] = context.get("metatags", "") + "<style>html{scroll-behavior:auto!important}</style>"


def setup(app):
    """Adds the lexer of MLIR, and what the theme does not let choose."""
    app.add_lexer("mlir", MlirLexer)
    app.connect("html-page-context", jump)
