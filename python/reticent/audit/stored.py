"""Audits of models that this package or the command has stored."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from .. import _native, _tables
from .._core import Certificate, certificate, finite, load
from ..errors import InvalidValueError, ModelError, RequestError, ReticentError
from .arrays import out_folder, whole
from .files import PathLike, refusal
from .results import Audit
from .run import Bound, attacks_of, run, statement_of

#: The devices that compute a network.
Device = Literal["cpu", "cuda"]


def audit_model(
    model: Any,
    *,
    references: int = 16,
    non_members: PathLike | None = None,
    drawn: float | None = None,
    records: int = 20_000,
    white_box: bool = False,
    label_only: bool = False,
    activations: str | Iterable[str] = (),
    unit: str | None = None,
    samples: PathLike | None = None,
    samples_per_author: int | None = None,
    threads: int | None = None,
    device: Device = "cpu",
    chunk: int | None = None,
    attacks: str | Iterable[str] | None = None,
    bound: Bound | None = None,
    guesses: float | None = None,
    delta: float | None = None,
    confidence: float = 0.95,
    prior: float | None = None,
    worst: int = 20,
    key: str = "reticent",
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Audit:
    """Audits a model that this package or the command trained on a file and stored in a folder.

    ``references`` models are trained like the target, each on a random half of the audited ``records`` and
    all other training records. Non-members are the rows that were held out, the validation or test data of
    the training, or the file ``non_members``. Reference models are stored in ``out`` (by default a folder
    beside the model's, with its name and ``-audit``): a stopped audit goes on where it was.

    Of rows that a linear model's training held out it is known how they were drawn. Otherwise a lower bound
    on ε is stated only if ``drawn`` says with which probability each record was included by its own coin
    flip.

    With ``white_box=True`` attackers also see the weights: gradients of the target and of all reference models
    are computed and attacked, and ``by_access`` compares them with predictions. ``activations`` names layers of
    a network whose outputs they see too.

    With ``label_only=True`` attackers who see predicted classes alone ask about noisy copies of the records.

    A model whose unit is a column (``unit`` may name it) is audited by author: a model is trained on all samples
    of an author or on none. ``samples`` is a file with fresh texts of the same authors, on which no model is
    trained; without it the attacks ask about the training texts themselves. ``samples_per_author`` says how many
    texts of each the auditor has. ``authors`` of the result says on whom the figures rest.

    ``device="cuda"`` trains reference networks on the first NVIDIA GPU, 4 at once unless ``threads`` says
    otherwise; ``chunk`` is the number of examples that each computes at once.

    >>> import json, pathlib, tempfile
    >>> from reticent import _native
    >>> from reticent.audit import audit_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = pathlib.Path(folder, "model")
    ...     _ = _native.fit(json.dumps({"epsilon": 1.0, "out": str(model)}))
    ...     found = audit_model(model, references=2, records=400)
    >>> found.comparison.upper
    1.0
    """
    if unit is not None and not isinstance(unit, str):
        raise refusal(RequestError, "R104", "unit", unit, "give the name of a column")
    statement = statement_of(bound, guesses, delta, confidence, prior, worst, key)
    folder = _folder(model)
    fitting: dict[str, Any] = {
        "references": whole("references", references, 0),
        "records": whole("records", records, 0),
        "white-box": _flag("white_box", white_box),
        "label-only": _flag("label_only", label_only),
        "activations": _layers(activations),
        "unit": unit,
        "samples": out_folder(samples, "samples"),
        "samples-per-author": None
        if samples_per_author is None
        else whole("samples_per_author", samples_per_author, 1),
        "threads": None if threads is None else whole("threads", threads, 1),
        **_computing(device, chunk),
        "non-members": out_folder(non_members, "non_members"),
    }
    if drawn is not None:
        if isinstance(drawn, str):
            remedy = "give the probability with which each record was included by its own coin flip"
            raise refusal(InvalidValueError, "R202", "drawn", drawn, remedy)
        finite(drawn=drawn)
        fitting["drawn"] = float(drawn)
    named = folder if folder.name not in ("", "..") else folder.resolve()
    place = out_folder(out) or named.with_name(f"{named.name}-audit")
    fields = {"model": folder, "fitting": fitting, "attacks": attacks_of(attacks), "statement": statement}
    with _stored(folder):
        return run("model", fields, place, progress, certificate=_own_certificate(folder))


def _flag(field: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise refusal(RequestError, "R104", field, value, "give True or False")
    return value


def _layers(names: Any) -> list[str]:
    given: list[Any] = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if not all(isinstance(name, str) for name in given):
        raise refusal(RequestError, "R104", "activations", names, "give names of layers, such as ['2']")
    return given


def audit_canaries(
    model: Any,
    *,
    kind: Literal["mislabelled", "blank", "dirac"] = "mislabelled",
    canaries: int = 1000,
    device: Device = "cpu",
    chunk: int | None = None,
    bound: Bound | None = None,
    guesses: float | None = None,
    delta: float | None = None,
    confidence: float = 0.95,
    prior: float | None = None,
    worst: int = 20,
    key: str = "reticent",
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Audit:
    """Repeats the training of a stored network with canaries, and bounds its ε from below.

    ``"mislabelled"`` and ``"blank"`` canaries are records that an outsider could plant. ``"dirac"`` canaries
    are gradients along one weight each: only an auditor inside the training can use them, and they give the
    tightest bounds. A fair coin decides whether each canary is included, so the premise of the bound holds.
    ``device="cuda"`` trains on the first NVIDIA GPU, ``chunk`` examples at once.

    >>> import json, pathlib, tempfile
    >>> from reticent import _native
    >>> from reticent.audit import audit_canaries
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = pathlib.Path(folder, "run")
    ...     asked = {"epsilon": 1.0, "delta": 1e-6, "steps": 2, "out": str(run)}
    ...     _ = _native.train(json.dumps(asked))
    ...     found = audit_canaries(run, canaries=200, confidence=0.999999)
    >>> found.epsilon_lower.value <= found.comparison.upper
    True
    """
    if not isinstance(kind, str) or kind not in ("mislabelled", "blank", "dirac"):
        raise refusal(InvalidValueError, "R203", "kind", kind, "unknown: give mislabelled, blank or dirac")
    folder = _folder(model)
    fields = {
        "model": folder,
        "kind": kind,
        "canaries": whole("canaries", canaries, 2),
        **_computing(device, chunk),
        "statement": statement_of(bound, guesses, delta, confidence, prior, worst, key),
    }
    with _stored(folder):
        return run("canaries", fields, out_folder(out), progress, certificate=_own_certificate(folder))


def _computing(device: Any, chunk: Any) -> dict[str, Any]:
    """What computes networks."""
    if not isinstance(device, str) or device not in ("cpu", "cuda"):
        raise refusal(InvalidValueError, "R203", "device", device, "unknown: give cpu or cuda")
    return {"device": device, "chunk": None if chunk is None else whole("chunk", chunk, 1)}


def _own_certificate(folder: Path) -> Certificate | None:
    text = _native.read_certificate(os.fspath(folder))
    return None if text is None else certificate(load(text))


def _folder(model: Any) -> Path:
    """The folder of a model: a path, or what has an attribute ``folder``."""
    folder = model if _tables.is_path(model) else getattr(model, "folder", None)
    if folder is None or not _tables.is_path(folder):
        remedy = "give the folder of a trained model, or a model that was trained with out="
        raise refusal(
            RequestError, "R104", "model", None, f"not a stored model ({type(model).__name__}): {remedy}"
        )
    return Path(_tables.text(os.fsdecode(folder), "model"))


@contextmanager
def _stored(folder: Path) -> Iterator[None]:
    """Refusals name the model, and say what to do if its training data are not on disk."""
    try:
        yield
    except ReticentError as error:
        if "memory:" not in str(error.args[0]):
            if isinstance(error, ModelError) and error.field is None:
                error.field = "model"
            raise
        remedy = "trained on data in memory, which are gone: train it on a file, or use audit_sklearn"
        raise refusal(ModelError, "R504", "model", str(folder), remedy) from error
