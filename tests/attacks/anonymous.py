"""Attacks without an account: credentials that were never issued, and anonymous streams."""

import base64
import json
import random
import time
import uuid
import zlib

import scene as scenes
from attack import Attack, cycle, get, post

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
KEY_RANDOM_CHARS = 33
KEY_CHECKSUM_CHARS = 6


def random_key(prefix):
    """A well-formed key that was never issued: only the database can tell."""
    text = prefix + "".join(random.choices(BASE62, k=KEY_RANDOM_CHARS))
    checksum, number = "", zlib.crc32(text.encode())
    for _ in range(KEY_CHECKSUM_CHARS):
        number, digit = divmod(number, 62)
        checksum = BASE62[digit] + checksum
    return text + checksum


def random_token():
    """A viewer token with claims like those of a real one and a signature out of nothing."""

    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    now = int(time.time())
    claims = {"sub": str(uuid.uuid4()), "tenant_id": "acme", "tier": "full", "iat": now, "exp": now + 3600}
    header = json.dumps({"alg": "HS256", "typ": "JWT", "kid": str(uuid.uuid4())})
    return f"vt_{part(header.encode())}.{part(json.dumps(claims).encode())}.{part(random.randbytes(32))}"


class BadCredentials(Attack):
    """Keys and tokens that were never issued, each another one."""

    name = "bad-credentials"
    summary = "well-formed keys and tokens that were never issued, 1,000 requests/s"
    needed_outcomes = ("401",)
    per_second = 1_000

    def clients(self, generator):
        return [self.at_rate(generator, [self.messages(number) for number in generator.share(64)])]

    @staticmethod
    def messages(number):
        body = scenes.encoded(scenes.event(number))
        while True:
            yield get("/api/v1/events", random_key("pk_live_"))
            yield post("/api/v1/events", random_key("pk_test_"), body)
            yield get("/api/v1/keys", random_key("mk_"))
            yield get("/api/v1/events", random_token())
            yield get("/api/v1/events", f"pk_live_{uuid.uuid4()}")


class StreamAbuse(Attack):
    """Anonymous streams: many new ones, invalid bodies, bodies of 838 KB."""

    name = "stream-abuse"
    summary = "one address creates streams, sends invalid bodies and bodies of 838 KB, and asks for unknown ones, 400 requests/s"

    def clients(self, generator):
        return [self.at_rate(generator, [self.messages()])]

    @staticmethod
    def messages():
        small = scenes.encoded(scenes.event(1))
        invalid = scenes.encoded([{"action": "Wrong", "unknown": number, "actor": {}} for number in range(100)])
        large = scenes.encoded([scenes.event(n, metadata={"text": "x" * 8_000}) for n in range(100)])
        broken = large[:-1]
        while True:
            for body in (small, invalid, large, broken):
                yield post(f"/api/v1/streams/{uuid.uuid4()}/events", None, body)
            yield get(f"/api/v1/streams/{uuid.uuid4()}/info")


class OperationsStorm(Attack):
    """What needs no credential, a check of the database included."""

    name = "operations-storm"
    summary = "`/readyz`, `/metrics`, `/docs` and the OpenAPI document, 1,000 requests/s"
    per_second = 1_000

    def clients(self, generator):
        messages = [get(target) for target in ("/readyz", "/metrics", "/docs", "/api/v1/openapi.json")]
        return [self.at_rate(generator, [cycle(messages, generator.number)])]


ALL = [BadCredentials(), StreamAbuse(), OperationsStorm()]
