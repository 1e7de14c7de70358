"""What meets a budget: the least noise, the most steps, the largest sampling rate."""

from __future__ import annotations

import json
from typing import Any

from .._refusals import conflict, invalid
from .._core import brief
from ..errors import ReticentError
from .events import Events
from .questions import asked
from .results import NoiseMultiplier, SamplingRate, Steps
from .training import described, need_length, need_rate
from .values import real

#: How the arguments are called in requests.
_NAMES = {"sampling_rate": "sample_rate", "epsilon": "target_epsilon", "delta": "target_delta"}


def _solve(
    question: str,
    target_epsilon: Any,
    target_delta: Any,
    events: Events | None,
    accountant: str | None,
    *,
    sampling: Any = "poisson",
    neighboring: Any,
    **given: Any,
) -> dict[str, Any]:
    """The number that the question is about: of a run, of which the others are given, or of events."""
    if events is None:
        run = described(sampling=sampling, neighboring=neighboring, **given)
        if question != "steps":
            need_length(run)
        if question != "rate":
            need_rate(run)
        happened = f'{{"training":{json.dumps(run)}}}'
    else:
        for name, value in given.items():
            if value is not None:
                raise conflict(name, value, "leave it out: `events` say what happens")
        if not isinstance(events, Events):
            raise invalid("events", brief(events), "give events such as Gaussian(1).poisson(0.01)", "R203")
        happened = Events._build(events._parts, events._neighboring, events._unit)._describe()
    target = {"epsilon": real("target_epsilon", target_epsilon), "delta": real("target_delta", target_delta)}
    try:
        return asked(json.dumps({question: target}), happened, accountant, _NAMES)
    except ReticentError as error:
        if error.field is None and str(error).startswith("`events`"):
            error.field = "events"
        raise


def noise_multiplier(
    *,
    target_epsilon: float,
    target_delta: float,
    sample_rate: float | None = None,
    steps: int | None = None,
    epochs: float | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    sampling: str = "poisson",
    neighboring: str = "add-remove",
    events: Events | None = None,
    accountant: str | None = None,
) -> NoiseMultiplier:
    """The least noise multiplier with which a DP-SGD run stays within a budget.

    The arguments are those of :func:`dpsgd`.

    With ``events`` in place of a run, their noise multiplier is looked for: all of them must have the same,
    which stands for it.

    >>> from reticent.accounting import dpsgd, noise_multiplier
    >>> noise = noise_multiplier(target_epsilon=2, target_delta=1e-5, sample_rate=0.01, epochs=10)
    >>> dpsgd(noise_multiplier=noise, sample_rate=0.01, epochs=10).epsilon(delta=1e-5) <= 2
    True
    """
    found = _solve(
        "noise",
        target_epsilon,
        target_delta,
        events,
        accountant,
        sample_rate=sample_rate,
        steps=steps,
        epochs=epochs,
        dataset_size=dataset_size,
        batch_size=batch_size,
        sampling=sampling,
        neighboring=neighboring,
    )
    return NoiseMultiplier(found)


def steps(
    *,
    target_epsilon: float,
    target_delta: float,
    noise_multiplier: float | None = None,
    sample_rate: float | None = None,
    dataset_size: int | None = None,
    batch_size: int | None = None,
    sampling: str = "poisson",
    neighboring: str = "add-remove",
    events: Events | None = None,
    accountant: str | None = None,
) -> Steps:
    """The largest number of steps of a DP-SGD run within a budget.

    With ``events`` in place of a run, it is how often all of them fit.

    >>> from reticent.accounting import dpsgd, steps
    >>> fit = steps(target_epsilon=2, target_delta=1e-5, noise_multiplier=1.1, sample_rate=0.01)
    >>> dpsgd(noise_multiplier=1.1, sample_rate=0.01, steps=fit).epsilon(delta=1e-5) <= 2
    True
    """
    found = _solve(
        "steps",
        target_epsilon,
        target_delta,
        events,
        accountant,
        noise_multiplier=noise_multiplier,
        sample_rate=sample_rate,
        dataset_size=dataset_size,
        batch_size=batch_size,
        sampling=sampling,
        neighboring=neighboring,
    )
    return Steps(found)


def rate(
    *,
    target_epsilon: float,
    target_delta: float,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    neighboring: str = "add-remove",
    events: Events | None = None,
    accountant: str | None = None,
) -> SamplingRate:
    """The largest rate of Poisson sampling with which a DP-SGD run stays within a budget.

    With ``events`` in place of a run, their sampling rate is looked for: all of them must have the same,
    which stands for it.

    >>> from reticent.accounting import dpsgd, rate
    >>> largest = rate(target_epsilon=2, target_delta=1e-5, noise_multiplier=1.1, steps=1000)
    >>> dpsgd(noise_multiplier=1.1, sample_rate=largest, steps=1000).epsilon(delta=1e-5) <= 2
    True
    """
    run: dict[str, Any] = {"noise_multiplier": noise_multiplier, "steps": steps, "neighboring": neighboring}
    return SamplingRate(_solve("rate", target_epsilon, target_delta, events, accountant, **run))
