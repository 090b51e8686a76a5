"""Reads an archive with published readers: pyarrow and DuckDB.

Usage: archive_readers.py DIRECTORY
"""
import json
import sys

import duckdb
import pyarrow.compute
import pyarrow.dataset

directory = sys.argv[1]

dataset = pyarrow.dataset.dataset(directory, format="parquet", partitioning="hive")
table = dataset.to_table()
assert {"project", "environment", "month"} <= set(table.column_names), table.column_names
ours = table.filter(pyarrow.compute.not_equal(table["tenant_id"], "audit-server"))
numbers = [json.loads(text)["number"] for text in ours["metadata"].to_pylist()]
assert all(isinstance(number, int) for number in numbers), numbers
assert sorted(table["seq"].to_pylist()) == list(range(table.num_rows)), "every position once"
print(f"pyarrow: {len(numbers)} events")

count, tenants, first, months = duckdb.execute(
    "SELECT count(*), count(DISTINCT tenant_id), min(received_at), count(DISTINCT month) "
    "FROM read_parquet(? || '/**/*.parquet', hive_partitioning = true) "
    "WHERE tenant_id <> 'audit-server' AND json_extract(metadata, '$.number') IS NOT NULL", [directory]).fetchone()
assert first.tzinfo is not None and tenants >= 1 and months >= 1, (tenants, first, months)
print(f"duckdb: {count} events")
