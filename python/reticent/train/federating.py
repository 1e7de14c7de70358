"""Parties that train one network together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from .fitting import fit
from .network import Network
from .trained import TrainedNetwork


def federated(
    network: Network | str | Iterable[Mapping[str, Any]],
    X: Any,
    y: Any = None,
    *,
    parties: int | None = None,
    rounds: int,
    method: Literal["average", "gradient"] = "average",
    by: Literal["uniform", "label", "column"] = "uniform",
    skew: float | None = None,
    column: str | None = None,
    split_key: str | None = None,
    local_epochs: int | None = None,
    local_batch: int | None = None,
    participation: float | None = None,
    unit: Literal["record", "party"] | None = None,
    snapshots: Iterable[int] | None = None,
    **settings: Any,
) -> TrainedNetwork:
    """Trains a network by several parties that divide ``X``, as a simulation in this process.

    With ``method="average"`` (FedAvg) a party trains for ``local_epochs`` on its own data in every round, and
    the server takes the mean of the parties' models. With ``method="gradient"`` (FedSGD) a party sends the sum
    of its records' gradients. The data are divided at random (``by="uniform"``), by class
    (``by="label"``, ``skew`` being the share of records that go to the party of their class), or by the values
    of a ``column``.

    With ``epsilon`` and ``delta``, FedSGD protects each record and FedAvg each party with all its records: then
    every party takes part in a round with probability ``participation``. FedAvg does not protect single
    records: ``unit="record"`` is refused there. The certificate takes the server as trusted: nothing covers
    what it sees of single updates.

    The weights after the rounds ``snapshots`` (all of them by default, or a hundred) are kept in the folder
    ``out``. The other arguments are those of :meth:`Network.fit`.

    >>> import numpy as np
    >>> from reticent import train
    >>> rng = np.random.default_rng(5)
    >>> X = rng.uniform(0, 1, (300, 2))
    >>> y = (X[:, 0] > X[:, 1]).astype(int)
    >>> model = train.federated("logistic", X, y, parties=3, rounds=4, local_epochs=2, bounds=(0, 1),
    ...                         classes=[0, 1], non_private=True)
    >>> model.steps
    4
    >>> protected = train.federated("logistic", X, y, parties=10, rounds=2, participation=0.5, bounds=(0, 1),
    ...                             classes=[0, 1], epsilon=5, delta=1e-3)
    >>> protected.certificate.unit
    'party'
    """
    split = {"parties": parties, "by": by, "skew": skew, "column": column, "key": split_key}
    keys = {
        "method": method,
        "rounds": rounds,
        "local_epochs": local_epochs,
        "local_batch": local_batch,
        "participation": participation,
        "unit": unit,
        "snapshots": None if snapshots is None else list(snapshots),
        "split": split,
    }
    return fit(network, X, y, federated=keys, **settings)
