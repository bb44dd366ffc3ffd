"""JSON documents: numbers that round-trip, nothing that is not JSON, nothing that a terminal might obey."""

import json
import math
from collections.abc import Iterator
from typing import Any


def to_json(value: Any) -> str:
    """JSON text; numbers round-trip; those that are not finite become null and are listed under not_finite."""
    return "".join(_json_parts(_finite(value), "\n"))


def to_json_line(value: Any) -> str:
    """The same on one line, in ASCII."""
    return json.dumps(_finite(value), allow_nan=False)


def _finite(value: Any) -> Any:
    missing: list[str] = []
    clean = _clean(value, "", missing)
    if missing:
        clean["not_finite"] = missing
    return clean


def not_finite(value: Any) -> list[str]:
    """The places in a value of numbers that are not finite, as `not_finite` in a document lists them."""
    missing: list[str] = []
    _clean(value, "", missing)
    return missing


def plain(value: Any) -> Any:
    """The value with arrays as lists and tuples as lists, as JSON has them; what is not finite stays as it is."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _json_parts(value: Any, newline: str) -> Iterator[str]:
    """Indented JSON with lists of numbers, as the rows of a matrix, on one line each."""
    inner = newline + "  "
    if isinstance(value, dict) and value:
        for k, (key, item) in enumerate(value.items()):
            yield f"{',' if k else '{'}{inner}{_dumps(key)}: "
            yield from _json_parts(item, inner)
        yield f"{newline}}}"
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        for k, item in enumerate(value):
            yield f"{',' if k else '['}{inner}"
            yield from _json_parts(item, inner)
        yield f"{newline}]"
    else:
        yield _dumps(value)


def _dumps(value: Any) -> str:
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    return text if text.isprintable() else _escaped(text)


def _escaped(text: str) -> str:
    """JSON with control characters as JSON escapes; they can only stand in strings."""
    return "".join(
        c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else json.dumps(c)[1:-1] for c in text
    )


def _clean(value: Any, path: str, missing: list[str]) -> Any:
    if hasattr(value, "tolist"):
        numbers, value = value, value.tolist()
        if numbers.dtype.kind == "f" and math.isfinite(numbers.sum()):  # as most are: no need to look at each
            return value
    if isinstance(value, dict):
        return {str(k): _clean(v, f"{path}.{k}".lstrip("."), missing) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(v, f"{path}[{k}]", missing) for k, v in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        missing.append(path)
        return None
    return value
