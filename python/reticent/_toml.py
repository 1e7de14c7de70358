"""TOML: networks and schemas are written, and files of the library are read."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ._arguments import refused


#: Deeper lists and tables are a mistake.
DEEPEST = 20


def written(value: Any, argument: str, depth: int = 0) -> str:
    """A value in TOML."""
    if depth > DEEPEST:
        raise refused(104, argument, f"more than {DEEPEST} lists inside of each other", "give fewer")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) or isinstance(value, int) and abs(value) < 1 << 63:
        return repr(value)
    if isinstance(value, str):
        return quoted(value, argument)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(lines(value, depth + 1)) + " }"
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        return "[" + ", ".join(written(item, argument, depth + 1) for item in value) + "]"
    problem = f"a {type(value).__name__} cannot be part of a network or a schema"
    raise refused(104, argument, problem, "give a number, a text or a list", value)


def lines(fields: Mapping[Any, Any], depth: int = 0) -> list[str]:
    """A line for each field; fields that are ``None`` are left out."""
    return [
        f"{key(str(name), 'name')} = {written(value, str(name), depth)}"
        for name, value in fields.items()
        if value is not None
    ]


def key(name: str, argument: str, code: int = 104) -> str:
    """A key in TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name, argument, code)


def quoted(text: str, argument: str, code: int = 104) -> str:
    """A basic string in TOML. Characters that it cannot hold are escaped."""
    try:
        text.encode()
    except UnicodeEncodeError:
        problem, remedy = f"{text!a} is not Unicode", "give text without surrogates"
        raise refused(code, argument, problem, remedy, ascii(text)) from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def parsed(text: str) -> dict[str, Any] | None:
    """TOML as data; ``None`` without a module for it. Raises ``ValueError`` for other text."""
    for module in ("tomllib", "tomli"):
        try:
            reader = importlib.import_module(module)
        except ImportError:
            continue
        return dict(reader.loads(text))
    return None


def stored(text: str, name: str) -> Any:
    """The value of a key on a line of its own, in a file of the library; ``None`` without that key."""
    found = re.search(rf"^{re.escape(name)} = (.*)$", text, re.MULTILINE)
    if found is None:
        return None
    value = found.group(1)
    if value.startswith("'"):
        return value.strip("'")
    value = re.sub(r"\\U([0-9A-Fa-f]{8})", lambda code: json.dumps(chr(int(code.group(1), 16)))[1:-1], value)
    try:
        return json.loads(value)
    except ValueError:
        return None
