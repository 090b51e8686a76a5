"""Canonical JSON (RFC 8785), with one addition of the service: integers keep all their digits."""

import json
import math
from typing import Any, List


def canonical(value: Any) -> str:
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: str(member[0]).encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(item)}" for name, item in members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def number(value: float) -> str:
    """A double as ECMAScript writes it (ECMA-262, Number::toString). Python finds the same shortest digits."""
    if not math.isfinite(value):
        raise ValueError("JSON has no such number")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, exponent = f"{abs(value)!r}e0".split("e")[:2]
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.digits times ten to the power of `point`.
    point = int(exponent) + len(whole) - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    digits = digits.rstrip("0")
    return sign + placed(digits, point)


def placed(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    parts: List[str] = [digits[0]]
    if count > 1:
        parts.append("." + digits[1:])
    return "".join(parts) + f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
