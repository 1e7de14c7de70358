"""The settings of a training as fields of a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from .. import _native
from .._arguments import flag, items, path, real, refused, text, whole
from .._budget import Budget, native
from .._core import brief
from .._progress import display
from .._refusals import one_of
from .._tables import numbers
from .labels import array_of
from .start import start_of

Callback = Callable[[dict[str, Any]], object]
#: The devices that compute a network.
Device = Literal["cpu", "cuda"]

_REALS = (
    "epsilon",
    "delta",
    "noise_multiplier",
    "epochs",
    "clip",
    "learning_rate",
    "momentum",
    "weight_decay",
    "label_smoothing",
    "adversarial",
    "reference_share",
    "average",
    "kept_share",
    "encoding_gain",
    "clip_quantile",
    "held_out",
)
_WHOLES = (
    "steps",
    "batch_size",
    "length",
    "warmup",
    "examples_per_user",
    "threads",
    "chunk",
    "degrees_of_freedom",
    "patience",
    "bands",
    "batch_growth",
)
_TEXTS = (
    "clipping",
    "optimizer",
    "schedule",
    "neighboring",
    "tokens",
    "augment",
    "noise",
    "denoise",
    "split_key",
    "batching",
)


def fields_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request that do not depend on the data."""
    fields: dict[str, Any] = {name: real(name, settings.get(name)) for name in _REALS}
    fields |= {name: whole(name, settings.get(name)) for name in _WHOLES}
    fields |= {name: text(name, settings.get(name)) for name in _TEXTS}
    fields |= {name: _each(name, settings.get(name)) for name in ("shift", "scale")}
    if np.any(np.asarray(1.0 if fields["scale"] is None else fields["scale"]) <= 0):
        raise refused(201, "scale", f"{brief(settings['scale'])} is out of range", "give numbers above 0")
    fields["dataset_size"] = whole("dataset_size", settings.get("dataset_size"), 1)
    fields["non_private"] = flag("non_private", settings.get("non_private", False)) or None
    fields["checkpoint_every"] = interval(settings.get("checkpoint_every"))
    fields["freeze"] = _layer_names(settings.get("freeze"))
    fields |= start_of(settings)
    fields["federated"] = _federated(settings.get("federated"))
    if settings.get("reference_data") is not None:
        remedy = "give a table or a folder of images"
        fields["reference_data"] = path("reference_data", settings["reference_data"], remedy)
    fields["device"] = device_of(settings.get("device", "cpu"))
    return fields


def device_of(device: Any) -> str:
    """The name of a device."""
    return one_of("device", device, ("cpu", "cuda"))


def interval(checkpoint_every: Any) -> str | None:
    """How often a run is stored: a number of steps, or what the library reads."""
    if isinstance(checkpoint_every, str):
        return text("checkpoint_every", checkpoint_every)
    steps = whole("checkpoint_every", checkpoint_every)
    return None if steps is None else str(steps)


def _federated(keys: Any) -> dict[str, Any] | None:
    """The keys of a ``parties.toml``, without those that are ``None``."""
    if keys is None:
        return None
    if not isinstance(keys, Mapping):
        remedy = "give a mapping with the keys of a parties.toml, or use reticent.train.federated"
        raise refused(104, "federated", "not a mapping", remedy, keys)

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(key): plain(own) for key, own in value.items() if own is not None}
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, (list, tuple, range, np.ndarray)):
            return [plain(own) for own in value]
        return value

    own: dict[str, Any] = plain(keys)
    return own


def _each(name: str, value: Any) -> float | list[float] | None:
    """One number for all channels, or one for each."""
    if value is None or array_of(value, name).ndim == 0:
        return real(name, value)
    return [float(own) for own in numbers(value, name).ravel()]


def _is_position(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and 0 <= int(value) < 1 << 32


def _layer_names(freeze: Any) -> list[str] | None:
    if freeze is None:
        return None
    own = items(freeze)
    names = [freeze] if own is None else own
    if not all(isinstance(name, str) or _is_position(name) for name in names):
        remedy = "give names of layers, or their positions from 0"
        raise refused(104, "freeze", "not names of layers", remedy, freeze)
    return [str(name) for name in names]


def charged(budget: Any) -> _native.Budget | None:
    """The budget that is charged."""
    if budget is not None and not isinstance(budget, Budget):
        problem = f"not a budget but {type(budget).__name__}"
        raise refused(104, "budget", problem, "give a reticent.Budget", budget)
    return native(budget)


def shown(progress: Any, callbacks: Any = None) -> Any:
    """What the library calls while it works."""
    return display(None if progress is None else flag("progress", progress), _callback(callbacks))


def _callback(callbacks: Any) -> Callback | None:
    """One callback for all."""
    if callbacks is None:
        return None
    own = [callbacks] if callable(callbacks) else items(callbacks)
    if own is None or not all(callable(one) for one in own):
        remedy = "give a callable, or a list of them, that take the metrics"
        raise refused(104, "callbacks", "not callable", remedy, callbacks)
    is_open = bool(own)

    def call(metrics: dict[str, Any]) -> None:
        # A callback that has raised is not called again while the run comes to its end.
        nonlocal is_open
        if is_open:
            is_open = False
            for one in own:
                one(dict(metrics))
            is_open = True

    return call
