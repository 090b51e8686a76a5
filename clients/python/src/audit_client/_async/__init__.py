"""The resources of the API for asyncio. :mod:`audit_client._sync` is generated from this package by ``tools/unasync.py``."""
