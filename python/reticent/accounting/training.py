"""Runs of DP-SGD: their descriptions, and the events of one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .._refusals import conflict, invalid, missing, one_of, relation
from ..errors import PrivacyError, ReticentError
from .events import Events
from .kinds import ClippedSum
from .shown import plain
from .values import MOST_EXACT, optional, renamed, whole

_SAMPLINGS = ("poisson", "shuffled", "without-replacement", "balls-in-bins")


def described(
    *,
    noise_multiplier: Any = None,
    sample_rate: Any = None,
    steps: Any = None,
    epochs: Any = None,
    dataset_size: Any = None,
    batch_size: Any = None,
    sampling: Any = "poisson",
    neighboring: Any = "add-remove",
) -> dict[str, Any]:
    """The description of a training run; what is not given is left out."""
    run: dict[str, Any] = {
        "noise_multiplier": optional("noise_multiplier", noise_multiplier),
        "sampling_rate": optional("sample_rate", sample_rate),
        "steps": None if steps is None else whole("steps", steps, 1),
        "epochs": optional("epochs", epochs),
        "dataset_size": None if dataset_size is None else whole("dataset_size", dataset_size, 1),
        "batch_size": None if batch_size is None else whole("batch_size", batch_size, 1),
        "sampling": one_of("sampling", sampling, _SAMPLINGS),
        "neighboring": relation(neighboring),
    }
    if steps is not None and epochs is not None:
        raise conflict("epochs", epochs, "give either `steps` or `epochs`, not both")
    if sample_rate is not None and batch_size is not None:
        raise conflict(
            "batch_size", batch_size, "give `sample_rate`, or `batch_size` with `dataset_size`, not both"
        )
    return {name: value for name, value in run.items() if value is not None}


def need_length(run: Mapping[str, Any]) -> None:
    """Refuses a run of unknown length."""
    if "steps" not in run and "epochs" not in run:
        raise missing("steps", "give `steps` or `epochs`")


def need_rate(run: Mapping[str, Any]) -> None:
    """Refuses a run whose sampling rate is not known."""
    if run["sampling"] != "poisson":
        for name in ("dataset_size", "batch_size"):
            if name not in run:
                raise missing(name, f"`sampling` {run['sampling']} needs `dataset_size` and `batch_size`")
        return
    if "sampling_rate" in run:
        return
    if "batch_size" not in run:
        raise missing("sample_rate", "give `sample_rate`, or `dataset_size` and `batch_size`")
    if "dataset_size" not in run:
        raise missing("dataset_size", "with `batch_size` it sets the sampling rate")


def dpsgd(
    *,
    noise_multiplier: float,
    sample_rate: float | None = None,
    steps: int | None = None,
    epochs: float | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    sampling: str = "poisson",
    neighboring: str = "add-remove",
) -> Events:
    """The events of a DP-SGD run.

    Each step clips the gradients of its batch and adds Gaussian noise of ``noise_multiplier`` × clipping
    norm to their sum. Give ``steps`` or ``epochs``, and ``sample_rate`` or both ``dataset_size`` and
    ``batch_size``.
    ``sampling`` says how batches were really drawn: ``"poisson"`` (every record independently),
    ``"shuffled"`` (batches of a shuffled list, as most data loaders do), ``"without-replacement"`` or
    ``"balls-in-bins"``. The noise multiplier has the same meaning under both relations.

    >>> from reticent.accounting import Laplace, dpsgd
    >>> run = dpsgd(noise_multiplier=1.1, dataset_size=60_000, batch_size=256, epochs=60)
    >>> f"{run.epsilon(delta=1e-5):.3f}"
    '2.382'
    >>> (run + Laplace(20) * 12).epsilon(delta=1e-5) > run.epsilon(delta=1e-5)
    True
    """
    if noise_multiplier is None:
        raise missing("noise_multiplier", "say how much noise a step had, such as 1.1")
    run = described(
        noise_multiplier=noise_multiplier,
        sample_rate=sample_rate,
        steps=steps,
        epochs=epochs,
        dataset_size=dataset_size,
        batch_size=batch_size,
        sampling=sampling,
        neighboring=neighboring,
    )
    need_length(run)
    need_rate(run)
    if run["sampling"] == "without-replacement" and run["neighboring"] == "add-remove":
        remedy = 'give neighboring="replace-one": fixed batches are accounted for under that relation'
        raise PrivacyError(
            f"sampling = {sampling}: {remedy}", code="R402", field="sampling", value=sampling, remedy=remedy
        )
    if "sampling_rate" in run and not run["sampling_rate"] > 0.0:
        raise invalid("sample_rate", plain(run["sampling_rate"]), "give a number above 0 and at most 1")
    records, batch = run.get("dataset_size"), run.get("batch_size")
    if records is not None and batch is not None and batch > records:
        raise invalid("batch_size", str(batch), f"give at most `dataset_size` {records}")
    try:
        events = _steps_of(run).under(run["neighboring"])
    except ReticentError as error:
        raise renamed(error, {"rate": "sample_rate", "count": "steps"}) from None
    return Events._build(events._parts, events._neighboring, None, json.dumps(run, separators=(",", ":")))


def _steps_of(run: Mapping[str, Any]) -> Events:
    """The events of a training run, from checked arguments."""
    step = ClippedSum(run["noise_multiplier"])
    records, batch = run.get("dataset_size"), run.get("batch_size")
    sizes = None if records is None or batch is None else (records, batch)
    length = _length(run, sizes)
    if run["sampling"] == "poisson":
        rate = run.get("sampling_rate")
        if rate is None:
            assert sizes is not None
            rate = _ratio_up(sizes[1], sizes[0])
        return (step if rate == 1.0 else step.poisson(rate)) * length
    assert sizes is not None
    if run["sampling"] == "without-replacement":
        return step.without_replacement(dataset_size=sizes[0], batch_size=sizes[1]) * length
    per_epoch = -(-sizes[0] // sizes[1])
    # A pass that is begun counts as a whole one.
    passes = math.ceil(run["epochs"]) if "epochs" in run else -(-length // per_epoch)
    if run["sampling"] == "shuffled":
        return step.shuffled(steps_per_epoch=per_epoch, epochs=passes)
    return step.balls_in_bins(bins=per_epoch, epochs=passes)


def _length(run: Mapping[str, Any], sizes: tuple[int, int] | None) -> int:
    """The number of steps as stated, or as many as the epochs have."""
    if "steps" in run:
        return run["steps"]  # type: ignore[no-any-return]
    epochs: float = run["epochs"]
    if epochs <= 0.0:
        raise invalid("epochs", plain(epochs), "give a number above 0")
    count = epochs / run["sampling_rate"] if sizes is None else epochs * sizes[0] / sizes[1]
    if not count <= MOST_EXACT:
        raise invalid("epochs", plain(epochs), f"give fewer: these are {count:.4g} steps")
    # A last bit of rounding is not another step.
    nearest = round(count)
    return max(1, nearest if abs(count - nearest) <= 1e-9 * nearest else math.ceil(count))


def _ratio_up(above: int, below: int) -> float:
    """The least float that is not below the ratio."""
    ratio = above / below
    return min(1.0, ratio if Fraction(ratio) >= Fraction(above, below) else math.nextafter(ratio, math.inf))
