"""Both clients pass every case of the conformance kit."""

import asyncio
from pathlib import Path
from typing import Any, Dict

import pytest
from conformance_runner import all_cases, run, run_async, skipped_needs

CASES = all_cases()


def test_the_client_lacks_nothing_that_a_case_needs() -> None:
    assert [case["name"] for case in CASES if skipped_needs(case)] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_threads(case: Dict[str, Any], tmp_path: Path) -> None:
    assert run(case["name"], tmp_path) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_asyncio(case: Dict[str, Any], tmp_path: Path) -> None:
    assert asyncio.run(run_async(case["name"], tmp_path)) == []
