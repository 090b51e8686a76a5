"""Validates records with the published JSON Schema of OCSF.

Usage: python3 ocsf_validate.py RECORDS. The file has a record in each line. Prints as JSON how many records of each class and activity there are, by `type_uid`. A record
that its class does not allow ends it with an error that says why, and so does a name in the form of the console that is not the schema's.
"""

import collections
import json
import pathlib
import sys

import jsonschema
import ocsf_json_schema

VERSION = "1.8.0"
FORM = pathlib.Path(__file__).parent.parent / "web/src/console/destinations/ocsf-classes.json"


def other_names(schema):
    """The classes of the console's form whose names, or those of their activities, are not the schema's."""
    classes = {str(entry["uid"]): entry for entry in schema["classes"].values()}
    other = []
    for uid, listed in json.loads(FORM.read_text()).items():
        activities = classes[uid]["attributes"]["activity_id"]["enum"].items()
        expected = {"name": classes[uid]["caption"], "activities": {number: one["caption"] for number, one in activities if number != "0"}}
        if listed != expected:
            other.append(f"{FORM}: {uid} is {expected}")
    return other


def main():
    published = ocsf_json_schema.get_ocsf_schema(VERSION)
    schemas = ocsf_json_schema.OcsfJsonSchemaEmbedded(published)
    validators, found, refused = {}, collections.Counter(), other_names(published)
    for number, line in enumerate(pathlib.Path(sys.argv[1]).read_text().split("\n"), 1):
        record = json.loads(line)
        class_uid = record["class_uid"]
        if class_uid not in validators:
            schema = schemas.get_class_schema(schemas.lookup_class_name_from_uid(class_uid))
            validators[class_uid] = jsonschema.Draft202012Validator(schema)
        for error in validators[class_uid].iter_errors(record):
            refused.append(f"line {number}: {error.json_path}: {error.message[:300]}")
        # The schema has the numbers, and not how they belong together.
        expected = (VERSION, class_uid * 100 + record["activity_id"], class_uid // 1000)
        if (record["metadata"]["version"], record["type_uid"], record["category_uid"]) != expected:
            refused.append(f"line {number}: the record is not of {expected}")
        found[record["type_uid"]] += 1
    if refused:
        sys.exit("\n".join(refused[:20]))
    print(json.dumps(found))


main()
