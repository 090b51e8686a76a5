#!/usr/bin/env python3
"""Writes the resources for threads, ``audit_client/_sync``, from those for asyncio: ``python tools/unasync.py``.

``--check`` writes nothing and fails if a file differs.
"""

import re
import sys
from pathlib import Path
from typing import Dict

PACKAGE = Path(__file__).parent.parent / "src" / "audit_client"
REPLACEMENTS = (
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\basyncio\b", "threads"),
)
NOTE = "# Generated from audit_client/_async by tools/unasync.py. Change that file.\n"


def generated() -> Dict[Path, str]:
    """The text of each file."""
    files = {}
    for source in sorted((PACKAGE / "_async").glob("*.py")):
        text = source.read_text(encoding="utf-8")
        if source.name == "__init__.py":
            text = '"""The resources of the API for threads."""\n'
        for pattern, replacement in REPLACEMENTS:
            text = re.sub(pattern, replacement, text)
        files[PACKAGE / "_sync" / source.name] = NOTE + text
    return files


def main() -> int:
    is_check = sys.argv[1:] == ["--check"]
    different = []
    for path, text in generated().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            different.append(path.name)
            if not is_check:
                path.write_text(text, encoding="utf-8")
    if is_check and different:
        print(f"not up to date: {', '.join(different)}; run python tools/unasync.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
