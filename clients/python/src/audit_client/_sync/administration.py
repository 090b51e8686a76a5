# Generated from audit_client/_async by tools/unasync.py. Change that file.
"""Projects, keys, redaction rules, viewers and streams."""

from typing import Any, Iterator, Dict, List, Literal, Mapping, Optional, Sequence, Union, cast

from .._transport import Transport
from .._wire import Null, call, json_of, segment
from ..types import (
    ActionIcon,
    ActionLabel,
    ActionPage,
    ActionText,
    Behavior,
    Category,
    CreatedKey,
    DestinationKind,
    Environment,
    KeyInfo,
    ListedAction,
    PortalLook,
    Project,
    ReadableAction,
    RedactionRule,
    RedactionTest,
    Scope,
    StreamInfo,
    Tenant,
    TenantPage,
    TierRoute,
    Time,
    Usage,
    ViewerTier,
    ViewerToken,
)


class Projects:
    """``client.projects``. Master key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, archived: Optional[Literal["false", "true", "all"]] = None) -> "List[Project]":
        """The projects of the organization that are not archived, or with ``archived`` those that are, or ``all``; oldest first."""
        request = call("GET", "/projects", {"archived": archived})
        return cast("List[Project]", (self._transport.send(request, json_of))["projects"])

    def get(self, project_id: str) -> Project:
        """One project."""
        request = call("GET", f"/projects/{segment(project_id)}")
        return cast(Project, (self._transport.send(request, json_of))["project"])

    def create(self, name: str) -> Project:
        """A project without keys."""
        request = call("POST", "/projects", body={"name": name}, is_idempotent=False)
        return cast(Project, (self._transport.send(request, json_of))["project"])

    def update(
        self,
        project_id: str,
        *,
        name: Optional[str] = None,
        archived: Optional[bool] = None,
        metadata_filter_paths: Optional[Sequence[str]] = None,
    ) -> Project:
        """Renames a project, or archives it: an archived project takes no events, and everything else stays possible.

        ``metadata_filter_paths``, up to 16 such as ``metadata.order.id``, are the members by which events can be filtered.
        """
        paths = None if metadata_filter_paths is None else list(metadata_filter_paths)
        body = {"name": name, "archived": archived, "metadata_filter_paths": paths}
        request = call("PATCH", f"/projects/{segment(project_id)}", body=body)
        return cast(Project, (self._transport.send(request, json_of))["project"])

    def tenants(self, *, limit: Optional[int] = None) -> Iterator[Tenant]:
        """The tenants that have events, with their numbers, page by page. ``limit`` is the size of a page (1 to 100)."""
        cursor: Optional[str] = None
        while True:
            request = call("GET", "/tenants", {"limit": limit, "cursor": cursor}, in_environment=True)
            page = cast(TenantPage, self._transport.send(request, json_of))
            for tenant in page["tenants"]:
                yield tenant
            cursor = page["cursor"]
            if cursor is None:
                return

    def usage(self) -> Usage:
        """The plan of the organization, and how much the project has of what is limited."""
        return cast(Usage, (self._transport.send(call("GET", "/usage"), json_of))["usage"])


class Keys:
    """``client.keys``: project keys. Creating and rotating need a master key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> "List[KeyInfo]":
        """The keys of the project, or with a master key of the organization."""
        return cast("List[KeyInfo]", (self._transport.send(call("GET", "/keys"), json_of))["keys"])

    def get(self, key_id: str) -> KeyInfo:
        """One key."""
        return cast(KeyInfo, (self._transport.send(call("GET", f"/keys/{segment(key_id)}"), json_of))["key"])

    def create(
        self,
        *,
        project_id: str,
        name: str,
        environment: Optional[Environment] = None,
        expires_at: Optional[Time] = None,
        scopes: Optional[Sequence[Scope]] = None,
        networks: Optional[Sequence[str]] = None,
    ) -> CreatedKey:
        """A key. An application that only sends events should have the scope ``events:write`` alone."""
        body = {
            "project_id": project_id,
            "type": "project",
            "name": name,
            "environment": environment,
            "expires_at": expires_at,
            "scopes": scopes,
            "networks": networks,
        }
        return cast(CreatedKey, self._transport.send(call("POST", "/keys", body=body, is_idempotent=False), json_of))

    def update(
        self,
        key_id: str,
        *,
        name: Optional[str] = None,
        expires_at: Union[Time, Null, None] = None,
        networks: Union[Sequence[str], Null, None] = None,
    ) -> KeyInfo:
        """Changes what is given; ``NULL`` lifts a limit, as far as the master key is not limited itself."""
        body = {"name": name, "expires_at": expires_at, "networks": networks}
        request = call("PATCH", f"/keys/{segment(key_id)}", body=body)
        return cast(KeyInfo, (self._transport.send(request, json_of))["key"])

    def rotate(self, key_id: str, *, overlap_seconds: int) -> CreatedKey:
        """A successor with the same limits; the old key ends after ``overlap_seconds``. 0 for a leaked key."""
        path = f"/keys/{segment(key_id)}/rotate"
        request = call("POST", path, {"overlap": overlap_seconds}, is_idempotent=False)
        return cast(CreatedKey, self._transport.send(request, json_of))

    def revoke(self, key_id: str) -> None:
        """Ends a key at once and for good."""
        self._transport.send(call("DELETE", f"/keys/{segment(key_id)}"), json_of)


class MasterKeys:
    """``client.master_keys``. Master key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> "List[KeyInfo]":
        """The master keys of the organization."""
        return cast("List[KeyInfo]", (self._transport.send(call("GET", "/master-keys"), json_of))["master_keys"])

    def get(self, key_id: str) -> KeyInfo:
        """One master key."""
        request = call("GET", f"/master-keys/{segment(key_id)}")
        return cast(KeyInfo, (self._transport.send(request, json_of))["master_key"])

    def create(
        self,
        *,
        name: str,
        expires_at: Optional[Time] = None,
        scopes: Optional[Sequence[Scope]] = None,
        networks: Optional[Sequence[str]] = None,
    ) -> CreatedKey:
        """A master key, with the given limits."""
        body = {"name": name, "expires_at": expires_at, "scopes": scopes, "networks": networks}
        request = call("POST", "/master-keys", body=body, is_idempotent=False)
        return cast(CreatedKey, self._transport.send(request, json_of))

    def rotate(self, key_id: str, *, overlap_seconds: int) -> CreatedKey:
        """A successor with the same limits; the old key ends after ``overlap_seconds``."""
        path = f"/master-keys/{segment(key_id)}/rotate"
        request = call("POST", path, {"overlap": overlap_seconds}, is_idempotent=False)
        return cast(CreatedKey, self._transport.send(request, json_of))

    def revoke(self, key_id: str) -> None:
        """Ends a master key at once and for good."""
        self._transport.send(call("DELETE", f"/master-keys/{segment(key_id)}"), json_of)


class RedactionRules:
    """``client.redaction_rules``. Writing needs a master key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> "List[RedactionRule]":
        """The built-in rules, then the custom ones."""
        return cast("List[RedactionRule]", (self._transport.send(call("GET", "/redaction/rules"), json_of))["rules"])

    def get(self, rule_id: str) -> RedactionRule:
        """One rule."""
        request = call("GET", f"/redaction/rules/{segment(rule_id)}")
        return cast(RedactionRule, (self._transport.send(request, json_of))["rule"])

    def create(
        self,
        *,
        type: Literal["pattern", "field_redact"],
        name: str,
        pattern: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        behavior: Optional[Behavior] = None,
        enabled: Optional[bool] = None,
    ) -> RedactionRule:
        """A custom rule: ``pattern`` with a regular expression, or ``field_redact`` with dot paths."""
        body = {"type": type, "name": name, "pattern": pattern, "fields": fields, "behavior": behavior, "enabled": enabled}
        request = call("POST", "/redaction/rules", body=body, is_idempotent=False)
        return cast(RedactionRule, (self._transport.send(request, json_of))["rule"])

    def update(
        self,
        rule_id: str,
        *,
        name: Optional[str] = None,
        pattern: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        behavior: Optional[Behavior] = None,
        enabled: Optional[bool] = None,
    ) -> RedactionRule:
        """Changes the given fields. Of a built-in rule only ``behavior`` and ``enabled``."""
        body = {"name": name, "pattern": pattern, "fields": fields, "behavior": behavior, "enabled": enabled}
        request = call("PUT", f"/redaction/rules/{segment(rule_id)}", body=body)
        return cast(RedactionRule, (self._transport.send(request, json_of))["rule"])

    def delete(self, rule_id: str) -> None:
        """Ends a custom rule. Events that it changed stay changed."""
        self._transport.send(call("DELETE", f"/redaction/rules/{segment(rule_id)}"), json_of)

    def test(self, event: Mapping[str, Any]) -> RedactionTest:
        """What the enabled rules would do to an event. Nothing is stored."""
        request = call("POST", "/redaction/test", body={"event": event})
        return cast(RedactionTest, self._transport.send(request, json_of))


class Portal:
    """``client.portal``. Name and logo that the portal of the project shows, what tenants may create, and where readers sign in.

    Writing needs a master key.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> PortalLook:
        """Name, logo and ``sign_in_url``, ``None`` for none, and the kinds of destinations."""
        return cast(PortalLook, (self._transport.send(call("GET", "/portal"), json_of))["portal"])

    def update(
        self,
        *,
        name: Union[str, Null, None] = None,
        logo: Union[str, Null, None] = None,
        destination_kinds: Union[Sequence[DestinationKind], Null, None] = None,
        sign_in_url: Union[str, Null, None] = None,
    ) -> PortalLook:
        """Changes what is given; ``NULL`` removes it. The logo is a data URL of a PNG, JPEG or WebP file.

        ``destination_kinds`` are the kinds of destinations that tenants may create, ``NULL`` for all. ``sign_in_url`` is the page
        of your application to which the portal sends readers who have no token.
        """
        body = {"name": name, "logo": logo, "destination_kinds": destination_kinds, "sign_in_url": sign_in_url}
        return cast(PortalLook, (self._transport.send(call("PATCH", "/portal", body=body), json_of))["portal"])

    def sign_in_url(self, project_id: str) -> str:
        """Where readers of the portal of a project sign in; 404 where it has no such URL. Needs no credential."""
        path = f"/portal/{segment(project_id)}/sign-in"
        return cast(str, (self._transport.send(call("GET", path), json_of))["sign_in_url"])


class Actions:
    """``client.actions``. How people read the actions of the project. Writing needs a master key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: Optional[int] = None) -> Iterator[ListedAction]:
        """The actions that events have or that have a label, page by page. ``limit`` is the size of a page (1 to 100)."""
        cursor: Optional[str] = None
        while True:
            request = call("GET", "/actions", {"limit": limit, "cursor": cursor}, in_environment=True)
            page = cast(ActionPage, self._transport.send(request, json_of))
            for action in page["actions"]:
                yield action
            cursor = page["cursor"]
            if cursor is None:
                return

    def labels(self, language: str) -> "List[ReadableAction]":
        """The labels for readers of a language, a tag (BCP 47) such as ``de``."""
        request = call("GET", "/actions/labels", {"language": language})
        return cast("List[ReadableAction]", (self._transport.send(request, json_of))["labels"])

    def put(self, action: str, languages: Mapping[str, ActionText], *, icon: Optional[ActionIcon] = None) -> ActionLabel:
        """Labels an action. ``languages`` has label and template by language tag."""
        request = call("PUT", f"/actions/{segment(action)}", body={"icon": icon, "languages": languages})
        return cast(ActionLabel, (self._transport.send(request, json_of))["label"])

    def delete(self, action: str) -> None:
        """Deletes the label of an action."""
        self._transport.send(call("DELETE", f"/actions/{segment(action)}"), json_of)


class ViewerTokens:
    """``client.viewer_tokens``. Live project key."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        tenant_id: str,
        *,
        tier: Optional[str] = None,
        expires_in: Optional[int] = None,
        portal: Optional[bool] = None,
    ) -> ViewerToken:
        """A token that reads the events of one tenant for ``expires_in`` seconds (60 to 86,400), safe in a browser.

        With ``portal`` the link to the portal, ``portal_url``, comes with it.
        """
        body = {"tenant_id": tenant_id, "tier": tier, "expires_in": expires_in, "portal": portal}
        return cast(ViewerToken, self._transport.send(call("POST", "/viewer-tokens", body=body), json_of))


class ViewerTiers:
    """``client.viewer_tiers``. Master key. A tier defines which events and fields its tokens show."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> "List[ViewerTier]":
        """All tiers of the project."""
        return cast("List[ViewerTier]", (self._transport.send(call("GET", "/viewer-tiers"), json_of))["viewer_tiers"])

    def get(self, name: str) -> ViewerTier:
        """One tier."""
        request = call("GET", f"/viewer-tiers/{segment(name)}")
        return cast(ViewerTier, (self._transport.send(request, json_of))["viewer_tier"])

    def create(
        self,
        *,
        name: str,
        categories: Optional[Sequence[Category]] = None,
        actions: Optional[Sequence[str]] = None,
        hidden_fields: Optional[Sequence[str]] = None,
        routes: Optional[Sequence[TierRoute]] = None,
    ) -> ViewerTier:
        """A tier. What is not given is not restricted."""
        body = {
            "name": name,
            "categories": categories,
            "actions": actions,
            "hidden_fields": hidden_fields,
            "routes": routes,
        }
        request = call("POST", "/viewer-tiers", body=body, is_idempotent=False)
        return cast(ViewerTier, (self._transport.send(request, json_of))["viewer_tier"])

    def update(
        self,
        name: str,
        *,
        categories: Union[Sequence[Category], Null, None] = None,
        actions: Union[Sequence[str], Null, None] = None,
        hidden_fields: Optional[Sequence[str]] = None,
        routes: Union[Sequence[TierRoute], Null, None] = None,
    ) -> ViewerTier:
        """Replaces the given lists. :data:`audit_client.NULL` lifts a restriction."""
        body: Dict[str, Any] = {
            "categories": categories,
            "actions": actions,
            "hidden_fields": hidden_fields,
            "routes": routes,
        }
        request = call("PATCH", f"/viewer-tiers/{segment(name)}", body=body)
        return cast(ViewerTier, (self._transport.send(request, json_of))["viewer_tier"])

    def delete(self, name: str) -> None:
        """Ends a tier and all its tokens."""
        self._transport.send(call("DELETE", f"/viewer-tiers/{segment(name)}"), json_of)


class Streams:
    """``client.streams``: anonymous streams."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def info(self, claim_token: str) -> StreamInfo:
        """Number of events and state. No credential is needed."""
        return cast(StreamInfo, self._transport.send(call("GET", f"/streams/{segment(claim_token)}/info"), json_of))

    def claim(self, claim_token: str) -> int:
        """Moves the stream's events into the project, and returns their number. Irreversible. Master key."""
        request = call("POST", "/streams/claim", body={"claim_token": claim_token}, is_idempotent=False)
        return int((self._transport.send(request, json_of))["event_count"])
