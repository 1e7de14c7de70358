"""Secrets planted in the texts of a language model, and how exposed they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import _native, _progress
from .._core import load, request
from ..errors import InvalidValueError
from .arrays import out_folder, whole
from .disclosures import Disclosures
from .files import PathLike, refusal
from .records import _number
from .stored import Device, _computing, _folder, _stored


def plant_secrets(
    model: Any,
    format: str = "my pin is {digits:4}",
    *,
    repetitions: Iterable[int] = (1, 4, 16),
    secrets: int = 8,
    candidates: int = 100_000,
    continuations: int = 1000,
    device: Device = "cpu",
    chunk: int | None = None,
    confidence: float = 0.95,
    key: str = "reticent",
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Disclosures:
    """Repeats the training of a language model with random secrets, and measures how exposed they are.

    ``format`` is a text with one place such as ``{digits:4}``, ``{lower:6}``, ``{hex:8}`` or ``{abc:5}``, which
    is five of the symbols a, b and c. For each number of ``repetitions`` there are ``secrets`` of them, planted
    so often; as many that are never planted stand beside them. The exposure of a secret is log₂ of the number of
    possible secrets minus log₂ of its rank by the model's loss; about 1.44 bits in the mean for a model that has
    not seen it. Up to a million possible secrets are all ranked; of more, ``candidates`` are drawn and the rank
    is estimated. ``continuations`` of the text before the secret are sampled from the model and searched.

    >>> import pathlib, tempfile
    >>> from reticent.audit import plant_secrets
    >>> from reticent.errors import ReticentError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         plant_secrets(pathlib.Path(folder), "no place for a secret")
    ...     except ReticentError as error:
    ...         print("format" in str(error))
    True
    """
    for name, text in (("format", format), ("key", key)):
        if not isinstance(text, str):
            raise refusal(InvalidValueError, "R202", name, text, "give text")
    if isinstance(repetitions, (str, bytes)) or not isinstance(repetitions, Iterable):
        raise refusal(InvalidValueError, "R202", "repetitions", repetitions, "give whole numbers, such as [1, 4]")
    folder = _folder(model)
    fields = {
        "model": folder,
        "format": format,
        "repetitions": [whole("repetitions", times, 1) for times in repetitions],
        "secrets": whole("secrets", secrets, 1),
        "candidates": whole("candidates", candidates, 1),
        "continuations": whole("continuations", continuations, 0),
        **_computing(device, chunk),
        "confidence": _number("confidence", confidence),
        "key": key,
        "out": out_folder(out),
    }
    with _stored(folder):
        return Disclosures(load(_native.plant_secrets(request(fields), _progress.display(progress))))
