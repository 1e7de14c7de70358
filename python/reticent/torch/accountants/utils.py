"""Calibration by the name that Opacus has for it: see :func:`reticent.accounting.noise_multiplier`."""

from __future__ import annotations

import math
from typing import Any

from ..._refusals import conflict
from ...accounting import noise_multiplier


def get_noise_multiplier(
    *,
    target_epsilon: float,
    target_delta: float,
    sample_rate: float,
    epochs: float | None = None,
    steps: int | None = None,
    accountant: str = "prv",
    **_: Any,
) -> float:
    """The least noise multiplier that keeps all steps within (ε, δ).

    >>> from reticent.torch.accountants.utils import get_noise_multiplier
    >>> get_noise_multiplier(target_epsilon=2.0, target_delta=1e-5, sample_rate=0.01, steps=1000) < 0.97
    True
    """
    if (epochs is None) == (steps is None):
        raise conflict("steps", steps, "give either epochs or steps")
    count = steps if steps is not None else math.ceil((epochs or 0) / sample_rate)
    return noise_multiplier(
        target_epsilon=target_epsilon, target_delta=target_delta, sample_rate=sample_rate, steps=int(count)
    )
