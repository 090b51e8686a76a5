"""Blocks of the documents, and the shape of documented responses."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def headings(document):
    """The headings of a document, in order."""
    found, is_block = [], False
    for line in (ROOT / document).read_text().splitlines():
        if line.startswith("```"):
            is_block = not is_block
        elif line.startswith("#") and not is_block:
            found.append(line.lstrip("#").strip())
    return found


def blocks(document, heading):
    """The fenced blocks of a section without its subsections: language and text."""
    found, language, is_inside = [], None, False
    for line in (ROOT / document).read_text().splitlines():
        if language is None and line.startswith("#"):
            is_inside = line.lstrip("#").strip() == heading
        elif is_inside and language is None and line.startswith("```"):
            language, lines = line[3:], []
        elif is_inside and line == "```":
            found.append((language, "\n".join(lines)))
            language = None
        elif language is not None:
            lines.append(line)
    return found


def same_shape(documented, actual):
    """Whether both have the same members, at any depth. Of lists the common elements are compared."""
    if isinstance(documented, dict) and isinstance(actual, dict):
        return documented.keys() == actual.keys() and all(same_shape(documented[name], actual[name]) for name in documented)
    if isinstance(documented, list) and isinstance(actual, list):
        return bool(documented) == bool(actual) and all(map(same_shape, documented, actual))
    return None in (documented, actual) or type(documented) is type(actual)
