"""Modules that cannot be trained with a guarantee: what is wrong, layer by layer, and a repair."""

from __future__ import annotations

from typing import Any

from torch import nn

from . import refusals

_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)


def problems(module: nn.Module) -> list[tuple[str, str]]:
    """The layers that mix examples or keep numbers about them, by name, each with what to do.

    >>> from torch import nn
    >>> from reticent.torch import problems
    >>> problems(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)))[0][0]
    '1'
    """
    found = []
    for name, own in module.named_modules():
        if isinstance(own, nn.modules.batchnorm._BatchNorm) and not _is_frozen(own):
            remedy = (
                f"{type(own).__name__} computes with the mean of the batch, so examples change each other: use "
                "nn.GroupNorm, or reticent.torch.fix(module), which puts it in its place"
            )
            found.append((name, remedy))
        elif isinstance(own, nn.modules.instancenorm._InstanceNorm) and own.track_running_stats:
            remedy = (
                "track_running_stats keeps means of private inputs without noise: set it to False, or use "
                "reticent.torch.fix(module)"
            )
            found.append((name, remedy))
    return found


def _is_frozen(own: Any) -> bool:
    """A batch norm that computes with stored numbers only."""
    return not own.training and own.track_running_stats and own.running_mean is not None


def check_layers(module: nn.Module) -> None:
    """Refuses the first layer that cannot be trained with a guarantee."""
    for name, remedy in problems(module):
        raise refusals.layer(name or type(module).__name__, remedy)


def fix(module: nn.Module) -> nn.Module:
    """The same module with batch norms replaced by group norms, in place where it is not itself one. New layers start with the weights
    of the old ones; numbers that the old ones kept about their inputs are dropped.

    >>> from torch import nn
    >>> from reticent.torch import fix
    >>> fixed = fix(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)))
    >>> type(fixed[1]).__name__, fixed[1].num_groups
    ('GroupNorm', 4)
    """
    if isinstance(module, _BATCH_NORMS):
        return _group_norm(module)
    for name, own in list(module.named_children()):
        if isinstance(own, nn.modules.instancenorm._InstanceNorm) and own.track_running_stats:
            own.track_running_stats = False
            own.running_mean = own.running_var = own.num_batches_tracked = None
        elif isinstance(own, _BATCH_NORMS):
            setattr(module, name, _group_norm(own))
        else:
            fix(own)
    return module


def _group_norm(own: Any) -> nn.GroupNorm:
    channels = own.num_features
    # Several channels in a group: one number by itself has no spread.
    groups = next(count for count in (32, 16, 8, 4, 2, 1) if channels % count == 0 and (2 * count <= channels or count == 1))
    new = nn.GroupNorm(groups, channels, own.eps, own.affine)
    if own.affine:
        new.weight, new.bias = own.weight, own.bias
    return new.to(own.weight.device if own.affine else "cpu").train(own.training)
