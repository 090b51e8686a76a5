"""Verifies all events of a customer: each is in the log as it is shown, and none was left out.

    AUDIT_URL=http://127.0.0.1:8080 AUDIT_KEY=vt_… python verify_tenant.py "$(cat key.txt)"

The credential is a viewer token of the customer. The key is that of the deployment (`audit-server log key`), which the customer got
over another channel. Needs the extra `verify` of the client.
"""

import os
import sys

from audit_client import Client, VerificationError, verify_completeness, verify_proof


def verify(viewer: Client, key: str) -> str:
    # The proof first: what is stored in the meantime is newer than the proof, and not missing from it.
    completeness = viewer.log.completeness()
    events = [event for page in viewer.events.feed(follow=False) for event in page["events"]]
    verified = verify_completeness(events, completeness, key)
    for event in events:
        verify_proof(event, viewer.events.proof(event["id"]), key)
    there_were = f"at {verified.signed_at} there were {verified.size}, of which {verified.removed} were removed"
    return f"{len(events)} events are as they were stored, and {there_were}, by the statement of the server"


if __name__ == "__main__":
    try:
        with Client(os.environ["AUDIT_URL"], os.environ["AUDIT_KEY"]) as client:
            print(verify(client, sys.argv[1]))
    except VerificationError as error:
        sys.exit(f"REFUSED: {error}")
