"""Validates a bill of materials against the schema of CycloneDX: target/deploy-tools/bin/python deploy/release/validate_sbom.py FILE

The schema of the version that the file names is part of cyclonedx-python-lib, which deploy/tools installs. It is the strict one: it refuses
unknown fields.
"""

import json
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    version = json.loads(text)["specVersion"]
    error = JsonStrictValidator(SchemaVersion.from_version(version)).validate_str(text)
    if error is not None:
        # The text of the whole error has the schema in it.
        sys.exit(f"{sys.argv[1]}: {error.data.json_path} does not satisfy CycloneDX {version}: {error.data.message}")
    print(f"valid by the schema of CycloneDX {version}")


main()
