"""Client of the audit-log service.

>>> from audit_client import Client
>>> audit = Client("http://127.0.0.1:8080", "pk_live_…")  # doctest: +SKIP
>>> audit.record({                                        # doctest: +SKIP
...     "action": "user.created", "category": "mutation", "tenant_id": "acme",
...     "actor": {"id": "user_1", "type": "user"},
... })
"""

from ._client import AsyncClient, Client
from ._policy import RetryPolicy
from ._recorder import Overflow, Result, Stats
from ._version import __version__
from ._wire import NULL
from .annotations import annotate, audited
from .errors import (
    ApiError,
    AuditError,
    ClientClosed,
    EventsRemoved,
    InvalidEvent,
    NetworkError,
    NotConnected,
    NotSent,
    QueueFull,
    SpoolError,
    VerificationError,
)
from .proofs import (
    VerifiedCompleteness,
    VerifiedEvent,
    content_hash,
    verify_completeness,
    verify_consistency,
    verify_inclusion,
    verify_note,
    verify_proof,
)
from .spool import Spool
from .types import Actor, Alert, Change, Context, Event, EventInput, OnBehalfOf, Target
from .webhook import verify_webhook

__all__ = [
    "NULL",
    "Actor",
    "Alert",
    "ApiError",
    "AsyncClient",
    "AuditError",
    "Change",
    "Client",
    "ClientClosed",
    "Context",
    "Event",
    "EventInput",
    "EventsRemoved",
    "InvalidEvent",
    "NetworkError",
    "NotConnected",
    "NotSent",
    "OnBehalfOf",
    "Overflow",
    "QueueFull",
    "Result",
    "RetryPolicy",
    "Spool",
    "SpoolError",
    "Stats",
    "Target",
    "VerificationError",
    "VerifiedCompleteness",
    "VerifiedEvent",
    "__version__",
    "annotate",
    "audited",
    "content_hash",
    "verify_completeness",
    "verify_consistency",
    "verify_inclusion",
    "verify_note",
    "verify_proof",
    "verify_webhook",
]
