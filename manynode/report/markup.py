"""Pieces of a page's HTML: tables without empty columns, the list of contents, links in sentences.

The HTML is that of this package's templates: attributes and texts are escaped, tables are not nested.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markupsafe import Markup, escape

_ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<t([hd])\b[^>]*>(.*?)</t\1>\s*", re.DOTALL)
_HEADING = re.compile(
    r'<(section|figure) id="([^"]+)"[^>]*>(?:(?!<section|<figure).)*?<h[23][^>]*>(.*?)</h[23]>', re.DOTALL
)
_LINK = re.compile(r"(?P<page>\bdocs/[\w/-]+\.md)|(?P<address>https?://[^\s,;()]+[^\s,;().:])")


def without_empty_columns(table: str) -> Markup:
    """Return the rows of a table without the columns in which no row of its body has a text."""
    head, body, rows = str(table).partition("<tbody>")
    cells = [[cell[2].strip() for cell in _CELL.finditer(row)] for row in _ROW.findall(rows)]
    # A row may have one cell over all columns: a heading.
    width = max(map(len, cells), default=0)
    empty = {n for n in range(width) if not any(row[n] for row in cells if len(row) == width)}

    def kept(row: re.Match[str]) -> str:
        text, found = row[0], list(_CELL.finditer(row[0]))
        for n in sorted(empty, reverse=True) if len(found) == width else ():
            text = text[: found[n].start()] + text[found[n].end() :]
        return text

    return Markup(_ROW.sub(kept, head) + body + _ROW.sub(kept, rows))  # noqa: S704 - parts of the page's own HTML


@dataclass(frozen=True)
class Entry:
    """A section in the list of contents, with its figures."""

    name: str
    heading: Markup
    figures: list[Entry] = field(default_factory=list)


def contents(body: str) -> list[Entry]:
    """Return the sections of a page and their figures, in their order."""
    entries: list[Entry] = []
    for kind, name, heading in _HEADING.findall(str(body)):
        entry = Entry(name, Markup(heading))  # noqa: S704 - a part of the page's own HTML
        (entries[-1].figures if kind == "figure" and entries else entries).append(entry)
    return entries


def linked(text: str, documentation: str | None) -> Markup:
    """Return ``text`` with links: addresses, and pages of the documentation where their folder can be reached."""

    def link(found: re.Match[str]) -> str:
        if found["page"] and documentation is None:
            return found[0]
        target = found["address"] or f"{documentation}/{found['page'].removeprefix('docs/')}"
        return f'<a href="{target}">{found[0]}</a>'

    return Markup(_LINK.sub(link, str(escape(text))))  # noqa: S704 - escaped before the links were put in
