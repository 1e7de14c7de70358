"""A whole private training in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader, Dataset

from .._core import Certificate
from .engine import PrivacyEngine
from .memory import BatchMemoryManager


@dataclass(frozen=True)
class FittedModule:
    """A module that was trained privately, with its certificate."""

    module: nn.Module
    certificate: Certificate
    engine: PrivacyEngine


def fit(
    module: nn.Module,
    dataset: Dataset[Any],
    *,
    criterion: Callable[[Any, Any], Tensor],
    epsilon: float,
    delta: float,
    epochs: int,
    batch_size: int,
    max_grad_norm: float = 1.0,
    optimizer: Optimizer | None = None,
    max_physical_batch_size: int | None = None,
    after_epoch: Callable[[int, PrivacyEngine], object] | None = None,
    engine: PrivacyEngine | None = None,
    **options: Any,
) -> FittedModule:
    """Trains a module on pairs of input and target, within (ε, δ).

    Batches go to the device of the module's parameters. Without ``optimizer`` it is ``torch.optim.Adam``. ``after_epoch`` is called with
    the number of the epoch and the engine; other ``options`` are those of :meth:`PrivacyEngine.make_private`.

    >>> import torch
    >>> from torch import nn
    >>> from torch.utils.data import TensorDataset
    >>> from reticent.torch import fit
    >>> x = torch.randn(200, 3)
    >>> fitted = fit(nn.Linear(3, 2), TensorDataset(x, (x[:, 0] > 0).long()), criterion=nn.CrossEntropyLoss(),
    ...              epsilon=3, delta=1e-5, epochs=2, batch_size=50)
    >>> fitted.certificate.epsilon <= 3
    True
    """
    engine = engine or PrivacyEngine()
    optimizer = optimizer or torch.optim.Adam((own for own in module.parameters() if own.requires_grad), lr=1e-2)
    module, optimizer, loader = engine.make_private_with_epsilon(
        module=module,
        optimizer=optimizer,
        data_loader=DataLoader(dataset, batch_size=batch_size),
        target_epsilon=epsilon,
        target_delta=delta,
        epochs=epochs,
        max_grad_norm=max_grad_norm,
        criterion=criterion,
        **options,
    )
    device = engine.own_run.sum.device
    most = max_physical_batch_size or len(dataset)  # type: ignore[arg-type]
    module.train()
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=most, optimizer=optimizer) as parts:
        for epoch in range(epochs):
            for values, target in parts:
                criterion(module(values.to(device)), target.to(device)).backward()
                optimizer.step()
                optimizer.zero_grad()
            if after_epoch is not None:
                after_epoch(epoch + 1, engine)
    return FittedModule(module.eval(), engine.certificate(), engine)
