"""Parameters that a module uses by itself: each example computes with its own copy, by ``torch.func.vmap`` over the one operation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from .. import refusals
from ..taps import Taps, whole
from ..terms import Full

#: Questions about a tensor that no arithmetic follows from.
_QUESTIONS = {
    "size", "dim", "ndimension", "numel", "nelement", "stride", "is_contiguous", "is_floating_point", "type", "element_size",
    "__len__", "__repr__", "__hash__", "__format__", "storage_offset", "data_ptr", "get_device", "is_complex", "__bool__",
    "_is_view", "has_names", "is_inference", "register_hook", "requires_grad_",
}  # fmt: skip


class OwnCopies(Tensor):
    """A parameter of which every example has a copy. Operations see the parameter's shape and run example by example."""

    copies: Tensor
    rows: int
    taps: Taps
    key: str

    @staticmethod
    def of(parameter: Tensor, copies: Tensor, taps: Taps, key: str) -> OwnCopies:
        """The parameter with its copies."""
        own = parameter.detach().as_subclass(OwnCopies)
        own.copies, own.rows, own.taps, own.key = copies, copies.shape[0], taps, key
        return own

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        with torch._C.DisableTorchFunctionSubclass():
            name = getattr(function, "__name__", "")
            if name == "__get__" and getattr(function, "__self__", None) in _MOVING:
                name = "T"
            elif name in ("__get__", "__set__") or name in _QUESTIONS:
                return function(*args, **kwargs)
            return _apply(function, name, args, kwargs)


_MOVING = {Tensor.T, Tensor.mT, Tensor.H, Tensor.mH} if hasattr(Tensor, "mT") else {Tensor.T}


def _apply(function: Any, name: str, args: Any, kwargs: Any) -> Any:
    flat, form = tree_flatten((args, kwargs))
    first = next(item for item in flat if isinstance(item, OwnCopies))
    taps, rows = first.taps, first.rows
    places = [place for place, item in enumerate(flat) if isinstance(item, Tensor)]
    others = [place for place in places if not isinstance(flat[place], OwnCopies)]
    if not others:
        return _alone(function, name, flat, form, first)
    key = f"{first.key}: {name}"
    is_batched = _batched(taps, key, [tuple(flat[place].shape) for place in others], rows)
    if taps.sizes is not None:
        return function(*args, **kwargs)
    given = []
    for place in places:
        item = flat[place]
        if isinstance(item, OwnCopies):
            given.append(item.copies)
        elif is_batched[others.index(place)]:
            given.append(item.reshape(rows, item.shape[0] // rows, *item.shape[1:]))
        else:
            given.append(item.unsqueeze(0).expand(rows, *item.shape))

    def one(*own: Tensor) -> Any:
        items = list(flat)
        for place, item in zip(places, own, strict=True):
            items[place] = item
        inner, options = tree_unflatten(items, form)
        return function(*inner, **options)

    result = _each(one, given, first.key, name)
    if not any(is_batched):
        return OwnCopies.of(result[0], result, taps, first.key)
    if not isinstance(result, Tensor) or result.dim() < 2:
        raise _refusal(first.key, name)
    return result.flatten(0, 1)


def _each(one: Any, given: list[Tensor], key: str, name: str) -> Any:
    """An operation, example by example."""
    try:
        return torch.func.vmap(one, randomness="different")(*given)
    except RuntimeError as error:
        raise _refusal(key, name) from error


def _alone(function: Any, name: str, flat: list[Any], form: Any, first: OwnCopies) -> Any:
    """An operation on parameters alone."""
    taps, rows = first.taps, first.rows
    if taps.sizes is not None:
        args, kwargs = tree_unflatten(
            [item.as_subclass(Tensor) if isinstance(item, OwnCopies) else item for item in flat], form
        )
        result = function(*args, **kwargs)
        if isinstance(result, Tensor) and not _spreads(name, flat, first, rows):
            return OwnCopies.of(result, result.unsqueeze(0), taps, first.key)
        return result
    if _spreads(name, flat, first, rows):
        # The parameter for a whole batch: each example gets its own copy.
        shape = [item for item in flat[1:] if isinstance(item, int)][1:]
        copies = first.copies.reshape(rows, *first.copies.shape[2:])
        if name == "repeat":
            return copies.repeat(1, *shape)
        return copies.expand(rows, *shape)
    given = [item.copies for item in flat if isinstance(item, OwnCopies)]

    def one(*own: Tensor) -> Any:
        rest = iter(own)
        items = [next(rest) if isinstance(item, OwnCopies) else item for item in flat]
        args, kwargs = tree_unflatten(items, form)
        return function(*args, **kwargs)

    result = _each(one, given, first.key, name)
    if isinstance(result, Tensor):
        return OwnCopies.of(result[0], result, taps, first.key)
    return tuple(OwnCopies.of(part[0], part, taps, first.key) for part in result)


def _spreads(name: str, flat: list[Any], first: OwnCopies, rows: int) -> bool:
    """Whether a parameter with one row is given a row for every example."""
    if name not in ("expand", "repeat") or first.dim() < 1 or first.shape[0] != 1:
        return False
    counts = [item for item in flat[1:] if isinstance(item, int)]
    return len(counts) == first.dim() and counts[0] == (first.taps.rows or rows)


def _batched(taps: Taps, key: str, shapes: list[tuple[int, ...]], rows: int) -> list[bool]:
    """Which of the other tensors hold a part for every example, as found with made-up inputs."""
    if taps.sizes is not None:
        for place, shape in enumerate(shapes):
            taps.sizes.setdefault(f"{key} {place}", []).append(shape)
        return []
    found = []
    for place, shape in enumerate(shapes):
        known = taps.layouts.get(f"{key} {place}")
        axis = known[0] if known else (0 if shape and shape[0] % rows == 0 else None)
        if axis == 1 or (axis == 0 and (not shape or shape[0] % rows)):
            raise _refusal(key, "an operation")
        found.append(axis == 0)
    return found


def _refusal(key: str, name: str) -> Exception:
    return refusals.layer(
        key,
        f"{name} with this parameter cannot be divided into examples: put the parameter into a layer of its own "
        "(nn.Linear, nn.Embedding, …), or freeze it",
    )


def attach(taps: Taps, layer: nn.Module) -> None:
    """Gives every example its own copy of the module's parameters while its forward pass runs."""
    taps.has_copies = True
    names = [name for name, own in layer.named_parameters(recurse=False) if taps.is_trained(own)]

    def before(module: nn.Module, args: Any) -> None:
        if taps.sizes is None and not taps.is_on:
            return
        rows = 1 if taps.sizes is not None else taps.rows or 1
        for name in names:
            parameter = module._parameters[name]
            if parameter is None or isinstance(parameter, OwnCopies):
                continue
            copies = parameter.detach().unsqueeze(0).expand(rows, *parameter.shape)
            if taps.sizes is None:
                copies = copies.clone() if copies.dim() == 0 else copies

                def make(gradient: Tensor, own: nn.Parameter = parameter) -> Any:
                    return [(whole(own), Full(gradient))]

                copies = taps.watch(copies.contiguous(), make)
            swapped = OwnCopies.of(parameter, copies, taps, f"{taps.name(module)}.{name}")
            kept = module.__dict__.setdefault("_reticent_kept", {})
            kept[name] = parameter
            module._parameters[name] = swapped  # type: ignore[assignment]

    def after(module: nn.Module, args: Any, output: Any) -> None:
        for name, parameter in module.__dict__.pop("_reticent_kept", {}).items():
            module._parameters[name] = parameter

    taps.handles.append(layer.register_forward_pre_hook(before))
    taps.handles.append(layer.register_forward_hook(after, always_call=True))
