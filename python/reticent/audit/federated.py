"""Audits of parties that trained together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from .._core import finite
from ..errors import InvalidValueError
from .arrays import out_folder, whole
from .files import PathLike, refusal
from .results import Audit
from .run import run, statement_of
from .stored import Device, _computing, _folder, _own_certificate, _stored


def audit_federated(
    model: Any,
    *,
    observer: str = "server",
    victim: str | None = None,
    rounds: Iterable[Any] = (),
    active: Literal["ascent", "isolate"] | None = None,
    rate: float | None = None,
    ascent_steps: int | None = None,
    non_members: PathLike | None = None,
    records: int = 1000,
    threads: int | None = None,
    device: Device = "cpu",
    chunk: int | None = None,
    confidence: float = 0.95,
    prior: float | None = None,
    worst: int = 20,
    key: str = "reticent",
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Audit:
    """Attacks parties that trained together: as the server, or as one of them.

    ``observer`` is ``"server"`` or the name of a party, such as ``"party-2"``. The server sees the models of
    one party, its ``victim`` (the first by default), and asks about that party's records. A party sees the
    server's weights, and asks about the records of all others. ``rounds`` are the observed rounds: a list of
    numbers, or a list of such lists to compare, for which :attr:`Audit.observed` has a row each.

    ``active="ascent"`` departs from the protocol: the loss of the audited records is raised between rounds, and
    only who holds them brings it down again. ``active="isolate"`` also keeps the victim apart. The losses of
    members and non-members, and what the honest side could notice, are in :attr:`Audit.trajectories`.

    The model must have been trained on files. Non-members are its validation data, or ``non_members``. No lower
    bound on ε follows here: :func:`audit_canaries` plants records, or for FedAvg parties, by coin flips.

    >>> from reticent.audit import audit_federated
    >>> audit_federated("nowhere")
    Traceback (most recent call last):
    ...
    reticent.errors.ModelError: nowhere: no network there: give one that was trained with `federated` and `out`
    """
    folder = _folder(model)
    if active is not None and active not in ("ascent", "isolate"):
        raise refusal(InvalidValueError, "R203", "active", active, "unknown: give ascent or isolate")
    if rate is not None:
        finite(rate=rate)
    fields = {
        "model": folder,
        "observer": observer,
        "victim": victim,
        "rounds": _sets(rounds),
        "active": active,
        "rate": None if rate is None else float(rate),
        "ascent-steps": None if ascent_steps is None else whole("ascent_steps", ascent_steps, 1),
        "non-members": out_folder(non_members, "non_members"),
        "records": whole("records", records, 0),
        "threads": None if threads is None else whole("threads", threads, 1),
        **_computing(device, chunk),
        "statement": statement_of(None, None, None, confidence, prior, worst, key),
    }
    with _stored(folder):
        certificate = None if observer == "server" else _own_certificate(folder)
        return run("federated", fields, out_folder(out), progress, certificate=certificate)


def _sets(rounds: Any) -> list[list[int]]:
    """Sets of rounds: one list of numbers is one set."""
    try:
        listed = list(rounds)
        sets = [listed] if listed and not isinstance(listed[0], (list, tuple, range)) else listed
        return [[whole("rounds", number, 1) for number in own] for own in sets]
    except TypeError:
        remedy = "give a list of numbers from 1, or a list of such lists"
        raise refusal(InvalidValueError, "R202", "rounds", rounds, remedy) from None
