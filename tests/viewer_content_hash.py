"""Verifies what viewers see of events, with the implementation in docs/vectors, and tries to guess what they do not see.

    python viewer_content_hash.py DIRECTORY

Each file of the directory has an event as a viewer reads it, its proof, the path of a hidden field, and guesses of its value.
Fractions are written as Python does, so the events must have none that RFC 8785 writes otherwise.
"""

import copy
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "docs" / "vectors"))

from content_hash import PARTS, content_hash, content_hash_of_parts, log_of, part_hash  # noqa: E402


def with_guess(event, path, guess):
    changed = copy.deepcopy(event)
    *objects, name = path.split(".")
    inner = changed
    for step in objects:
        inner = inner.setdefault(step, {})
    inner[name] = guess
    return changed


def verified(event, proof, log):
    """The content hash that the reader computes."""
    if "content_salt" in proof:
        assert "parts" not in proof
        return content_hash(event, bytes.fromhex(proof["content_salt"]), log)
    return content_hash_of_parts(event, proof["parts"], log)


def guess(event, proof, path, guesses, log):
    """The guesses that the proof confirms."""
    stated = proof["content_hash"]
    confirmed = []
    [part] = [name for name, paths in PARTS.items() if path in paths]
    # For a reader without the salt of a part: as it is in the proof of another part, without, or of zeros.
    salts = {bytes(16), b""} | {bytes.fromhex(p.get("salt", "")) for p in proof.get("parts", {}).values()}
    for value in guesses:
        guessed = with_guess(event, path, value)
        if "content_salt" in proof:
            if "sha256:" + verified(guessed, proof, log).hex() == stated:
                confirmed.append(value)
        else:
            wanted = bytes.fromhex(proof["parts"][part]["hash"])
            confirmed += [value for salt in salts if part_hash(guessed, part, salt) == wanted]
    return confirmed


def main(directory):
    count = found = whole = 0
    for file in sorted(pathlib.Path(directory).iterdir()):
        case = json.loads(file.read_text("utf-8"))
        event, proof, path = case["event"], case["proof"], case["path"]
        log = log_of(proof["checkpoint"])
        assert proof["content_hash"] == event["content_hash"], file
        assert "sha256:" + verified(event, proof, log).hex() == proof["content_hash"], file
        # What the reader sees is what was hashed.
        assert "sha256:" + verified({**event, "tenant_id": "another"}, proof, log).hex() != proof["content_hash"], file
        assert verified(event, proof, log.replace("live", "test")).hex() not in proof["content_hash"], file
        confirmed = guess(event, proof, path, case["guesses"], log)
        if "content_salt" in proof:
            whole += 1
            assert len(confirmed) == 1, file
        found += len(confirmed)
        count += 1
    print(f"{count} events verified, {found} guessed in {whole} with the salt")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
