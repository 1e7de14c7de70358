"""What the weights of a training start from, as fields of a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._arguments import flag, path, real, refused


def start_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The fields about public weights, word vectors and public data."""
    fields: dict[str, Any] = {"pretrain_epochs": real("pretrain_epochs", settings.get("pretrain_epochs"))}
    for name, remedy in (
        ("init", "give a safetensors file, or the folder of a run"),
        ("vectors", "give a file of word vectors"),
        ("pretrain", "give a table or a folder of images"),
    ):
        if settings.get(name) is not None:
            fields[name] = path(name, settings[name], remedy)
    for name in ("init_public", "init_partial"):
        fields[name] = flag(name, settings.get(name, False)) or None
    fields["init_map"] = _names(settings.get("init_map"))
    return fields


def _names(pairs: Any) -> dict[str, str] | None:
    """Names of arrays in a file, each with the name of a parameter."""
    if pairs is None:
        return None
    if not isinstance(pairs, Mapping) or not all(isinstance(own, str) for pair in pairs.items() for own in pair):
        remedy = "give a mapping such as {'fc.weight': '3.weight'}"
        raise refused(104, "init_map", "not a mapping of names", remedy, pairs)
    return dict(pairs)
