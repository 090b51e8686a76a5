"""Prints the rows of an archive, each as JSON in a line, in the order of their positions, with bytes in hexadecimal digits.

Usage: archive_rows.py DIRECTORY
"""
import json
import sys

import pyarrow.dataset

table = pyarrow.dataset.dataset(sys.argv[1], format="parquet").to_table()
for row in sorted(table.to_pylist(), key=lambda row: row["seq"]):
    print(json.dumps(row, default=lambda value: value.hex() if isinstance(value, bytes) else str(value), ensure_ascii=False))
