"""Prints the rows of a workbook that a published reader finds, openpyxl: JSON objects by the names of the columns, times as ISO 8601.

Usage: xlsx_rows.py FILE
"""
import json
import sys
from datetime import datetime

import openpyxl

workbook = openpyxl.load_workbook(sys.argv[1])
rows = []
for sheet in workbook.worksheets:
    assert sheet.freeze_panes == "A2", sheet.freeze_panes
    assert sheet.auto_filter.ref == sheet.dimensions, (sheet.auto_filter.ref, sheet.dimensions)
    header, *lines = sheet.iter_rows()
    for line in lines:
        row = {}
        for name, cell in zip(header, line, strict=True):
            if cell.value is None:
                continue
            is_time = isinstance(cell.value, datetime)
            assert cell.data_type == ("d" if is_time else "s" if isinstance(cell.value, str) else None), (cell.data_type, cell.value)
            assert is_time or cell.quotePrefix, cell.value
            row[name.value] = cell.value.isoformat(timespec="milliseconds") if is_time else cell.value
        rows.append(row)
print(json.dumps(rows))
