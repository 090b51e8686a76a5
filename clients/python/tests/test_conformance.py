"""Both clients pass every case of the conformance kit."""

import asyncio
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conformance_runner import all_cases, run, run_apart, run_async, skipped_needs

CASES = all_cases()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems lack fork, or the means to stop a process")
def test_the_client_lacks_nothing_that_a_case_needs() -> None:
    # Only some users may mount a disk.
    assert [case["name"] for case in CASES if skipped_needs(case) not in (None, "disk")] == []


def problems(case: Dict[str, Any], directory: Path, kind: str) -> List[str]:
    missing = skipped_needs(case)
    if missing:
        pytest.skip(f"needs {missing}")
    if {"freeze", "fork"} & set(case["needs"]):
        return run_apart(case["name"], directory, kind)
    return run(case["name"], directory) if kind == "threads" else asyncio.run(run_async(case["name"], directory))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
@pytest.mark.parametrize("kind", ["threads", "asyncio"])
def test_the_client_conforms(case: Dict[str, Any], kind: str, tmp_path: Path) -> None:
    assert problems(case, tmp_path, kind) == []
