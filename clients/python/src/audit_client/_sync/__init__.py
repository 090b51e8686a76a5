# Generated from audit_client/_async by tools/unasync.py. Change that file.
"""The resources of the API for threads."""
