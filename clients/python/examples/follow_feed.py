"""Follows the feed into a file, each event once, even if it is killed at any moment.

    AUDIT_URL=http://127.0.0.1:8080 AUDIT_KEY=pk_live_… python follow_feed.py events.jsonl [--once]

The file has a line for each event. The cursor is in a file beside it, and is written after the events. What was written after the
last cursor is removed at the start, and read again.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, Dict

from audit_client import Client


def follow(audit: Client, path: Path, is_once: bool) -> None:
    state = path.with_name(path.name + ".cursor")
    saved: Dict[str, Any] = json.loads(state.read_text()) if state.exists() else {"cursor": None, "bytes": 0}
    with path.open("ab") as file:
        file.truncate(saved["bytes"])
        for page in audit.events.feed(after=saved["cursor"], follow=not is_once):
            for event in page["events"]:
                file.write(json.dumps(event, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
            temporary = state.with_name(state.name + ".tmp")
            temporary.write_text(json.dumps({"cursor": page["cursor"], "bytes": file.tell()}))
            temporary.replace(state)


if __name__ == "__main__":
    with Client(os.environ["AUDIT_URL"], os.environ["AUDIT_KEY"]) as client:
        follow(client, Path(sys.argv[1]), "--once" in sys.argv)
