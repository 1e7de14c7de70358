"""Taps: what every layer was given and the gradient of what it gave, from one ordinary backward pass.

Weights are not tracked by autograd. Layers with trained parameters have hooks; when a backward pass ends, the inputs and output
gradients that the hooks saw become terms (see ``terms``), parameter by parameter.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

from .refusals import layer, misuse
from .terms import Full, Term, together

#: A parameter, or some of its rows.
Place = tuple[nn.Parameter, int, int]

#: Terms from the gradient of an output.
Maker = Callable[[Tensor], list[tuple[Place, Term]]]

#: What takes the terms of a backward pass.
Taker = Callable[[list[tuple[Place, Term]]], None]


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of one call of a layer: what makes terms, the gradient of the output, and what else they are made with, with the versions
    that these had."""

    make: Maker
    gradient: Tensor
    given: tuple[Tensor, ...]
    versions: tuple[int, ...]

    def terms(self) -> list[tuple[Place, Term]]:
        """The terms of the call."""
        if versions_of(*self.given, self.gradient) != self.versions:
            raise misuse(
                "module",
                "the input of a layer, or a gradient, was changed in place before the sum was made, so it would not be that of the batch: "
                "make a new tensor instead",
            )
        return self.make(self.gradient)


def versions_of(*tensors: Tensor) -> tuple[int, ...]:
    """How often tensors were changed in place. Those that were made in inference mode do not tell."""
    # Whoever collects garbage in another thread must not see a tuple that is being filled.
    return tuple([0 if own.is_inference() else own._version for own in tensors])


def stream_of(index: int) -> tuple[int, int]:
    """A GPU and the handle of its current stream. Streams themselves take a while to make."""
    return index, torch._C._cuda_getCurrentRawStream(index)


def without_autocast(device: str) -> AbstractContextManager[Any]:
    """Computes in the precision of the numbers."""
    return torch.autocast(device, enabled=False) if torch.is_autocast_enabled(device) else nullcontext()


def whole(parameter: nn.Parameter) -> Place:
    """All of a parameter."""
    return (parameter, 0, parameter.shape[0] if parameter.dim() else 1)


class _Tap(torch.autograd.Function):
    """An identity whose output is tracked even where its input is not."""

    @staticmethod
    def forward(context: Any, output: Tensor, anchor: Tensor, hook: Callable[[Tensor], None]) -> Tensor:
        context.mark_dirty(output)
        context.hook = hook
        return output

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, None, None]:
        context.hook(gradients[0])
        return (gradients[0] if context.needs_input_grad[0] else None), None, None


def nothing(*_: Any, **__: Any) -> None:
    """A hook that does nothing."""


def _nothing() -> Any:
    return nothing


def _ordinary(layer: nn.Module) -> Any:
    return MethodType(type(layer).forward, layer)


class Hook:
    """A hook of a private module. Copies of the module do not have it: they are ordinary modules."""

    def __init__(self, own: Callable[..., Any]) -> None:
        self.own = own

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.own(*args, **kwargs)

    def __deepcopy__(self, memo: Any) -> Any:
        return nothing

    def __reduce__(self) -> Any:
        return _nothing, ()


class Forward:
    """What a layer computes with while it is private. A copy of the layer has its ordinary forward."""

    def __init__(self, layer: nn.Module, own: Callable[..., Any], plain: Any) -> None:
        self.layer, self.own, self.plain = layer, own, plain

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.own(*args, **kwargs)

    def __deepcopy__(self, memo: Any) -> Any:
        if self.plain is not None:
            return copy.deepcopy(self.plain, memo)
        return MethodType(type(self.layer).forward, copy.deepcopy(self.layer, memo))

    def __reduce__(self) -> Any:
        return _ordinary, (self.layer,)


class Call:
    """One call of a layer: where the examples are in its input."""

    def __init__(self, rows: int, axis: int | None) -> None:
        self.rows, self.axis = rows, axis

    def split(self, values: Tensor) -> Tensor:
        """Values with the examples in front: (rows, ...). Several rows of one example become a second axis."""
        if self.axis is None:
            return values.unsqueeze(0).expand(self.rows, *values.shape)
        if self.axis == 1:
            values = values.transpose(0, 1)
        if values.shape[0] == self.rows:
            return values
        return values.reshape(self.rows, values.shape[0] // self.rows, *values.shape[1:])

    @property
    def is_shared(self) -> bool:
        """Whether one input serves all examples."""
        return self.axis is None


class Taps:
    """The hooks of a module and what they see."""

    def __init__(self, module: nn.Module, names: dict[nn.Parameter, str]) -> None:
        self.module, self.names = module, names
        self._known = {id(own) for own in names}
        #: Examples in the present batch; none while nothing is tapped.
        self.rows: int | None = None
        #: Whether calls are tapped although the module is not in training mode.
        self.is_forced = False
        #: Called when a backward pass has ended, with what gives its terms to another, then or later.
        self.listener: Callable[[Callable[[Taker], None]], None] | None = None
        #: Called when a backward pass comes to the first layer.
        self.on_backward: Callable[[], None] | None = None
        #: Whether modules use parameters of their own without a layer.
        self.has_copies = False
        #: Whether a layer was given numbers of less than single precision, in the made-up inputs.
        self.is_low = False
        #: The batch whose calls are tapped.
        self.token: object = None
        self.handles: list[Any] = []
        self.undo: list[Callable[[], None]] = []
        self.layouts: dict[str, list[int | None]] = {}
        self.sizes: dict[str, list[tuple[int, ...]]] | None = None
        self._ordinals: dict[str, int] = {}
        self._pending: list[Seen] = []
        #: The streams of GPUs on which gradients came, by GPU and handle.
        self._streams: dict[tuple[int, int], Any] = {}
        self._anchor: Tensor | None = None
        self._own = {own: name or "the module" for name, own in module.named_modules(remove_duplicate=True)}

    def is_trained(self, parameter: Any) -> bool:
        """Whether the parameter is trained."""
        return id(parameter) in self._known

    @property
    def is_on(self) -> bool:
        """Whether calls are tapped now."""
        return self.rows is not None and (self.module.training or self.is_forced) and torch.is_grad_enabled()

    def name(self, module: nn.Module) -> str:
        """What messages call a layer."""
        return self._own.get(module, type(module).__name__)

    def start(self) -> None:
        """Begins a forward pass."""
        self._ordinals.clear()

    def begin(self, module: nn.Module, values: Tensor, batch_axis: int = 0) -> Call | None:
        """A call of a layer with these values; none where it is not to be tapped."""
        if self.sizes is not None:
            self.sizes.setdefault(self.name(module), []).append(tuple(values.shape))
            self.is_low = self.is_low or values.dtype in (torch.float16, torch.bfloat16)
            return None
        if self.rows is None or not self.is_on:
            return None
        name = self.name(module)
        known = self.layouts.get(name)
        axis: int | None = batch_axis
        if known is not None and len(known) > 1:
            place = self._ordinals.get(name, 0)
            self._ordinals[name] = place + 1
            axis = known[min(place, len(known) - 1)]
        elif known:
            axis = known[0]
        if axis is not None and (values.dim() <= axis or values.shape[axis] % self.rows):
            if known is not None:
                shape = tuple(values.shape)
                raise layer(
                    name,
                    f"an input of shape {shape} does not belong to a batch of {self.rows}: give the module the whole "
                    "batch that the loader gave",
                )
            axis = None
        return Call(self.rows, axis)

    def watch(self, output: Tensor, make: Maker, *given: Tensor) -> Tensor:
        """Has terms be made of the gradient of an output, and of what a layer was given."""
        token, versions = self.token, versions_of(*given)

        def hook(gradient: Tensor | None) -> None:
            if gradient is None:
                return
            if token is not self.token:
                raise misuse(
                    "backward",
                    "it goes through the outputs of an earlier batch: call backward() for every batch before the next one is "
                    "taken from the loader, and detach what is kept",
                )
            if not self._pending:
                self._receive_first()
            own = gradient.detach() if gradient.requires_grad else gradient
            self._pending.append(Seen(make, own, given, (*versions, *versions_of(own))))
            if gradient.is_cuda:
                key = stream_of(gradient.get_device())
                if key not in self._streams:
                    self._streams[key] = torch.cuda.current_stream(gradient.device)

        node = output.grad_fn
        if node is not None:
            place = output.output_nr
            node.register_prehook(lambda gradients: hook(gradients[place]))
            return output
        if self._anchor is None or self._anchor.device != output.device:
            self._anchor = torch.zeros((), device=output.device, requires_grad=True)
        tapped: Tensor = _Tap.apply(output, self._anchor, hook)
        return tapped

    def share(self, output: Tensor, call: Call) -> Tensor:
        """An output that serves all examples, once for each of them."""
        shape = (self.rows, *(output.shape[1:] if output.shape[0] == 1 else output.shape))
        return output.expand(shape).clone()

    def _receive_first(self) -> None:
        """Begins a backward pass."""
        if self.on_backward is not None:
            self.on_backward()
        torch.autograd.Variable._execution_engine.queue_callback(self._finish)

    def _finish(self) -> None:
        pending, self._pending = self._pending, []
        streams, self._streams = self._streams, {}

        def give(take: Taker) -> None:
            others = [(own, torch.cuda.current_stream(own.device)) for key, own in streams.items() if key != stream_of(key[0])]
            for own, now in others:
                now.wait_stream(own)
            try:
                # Norms and sums have all digits, also where backward() or step() is called under autocast.
                with torch.no_grad(), without_autocast(pending[0].gradient.device.type):
                    found = gathered(pending)
                    if not streams:
                        # Whoever takes them lets them go one by one.
                        pending.clear()
                    take(found)
            finally:
                # Memory that is let go here may be used anew on the stream that it came from.
                for own, now in others:
                    own.wait_stream(now)

        if self.listener is not None:
            self.listener(give)

    def drop(self) -> None:
        """Forgets what an interrupted backward pass left."""
        self._pending.clear()
        self._streams.clear()

    def seal(self) -> None:
        """Has copies of the module come without hooks."""
        for handle in self.handles:
            hooks = handle.hooks_dict_ref()
            if hooks is not None and not isinstance(hooks[handle.id], Hook):
                hooks[handle.id] = Hook(hooks[handle.id])

    def remove(self) -> None:
        """Takes all hooks away."""
        for handle in self.handles:
            handle.remove()
        for undo in self.undo:
            undo()
        self.handles.clear()
        self.undo.clear()

    @contextmanager
    def discovering(self) -> Any:
        """Records the shapes of inputs instead of tapping calls."""
        self.sizes = {}
        try:
            yield self.sizes
        finally:
            self.sizes = None


def gathered(pending: Iterable[Seen]) -> list[tuple[Place, Term]]:
    """One term for every place that has any."""
    places: dict[tuple[int, int, int], tuple[Place, list[Term]]] = {}
    found = [own for seen in pending for own in seen.terms()]
    if len({id(place[0]) for place, _ in found}) == len(found):
        return found
    for place, term in found:
        places.setdefault((id(place[0]), place[1], place[2]), (place, []))[1].append(term)
    return _apart(list(places.values()))


def _apart(found: list[tuple[Place, list[Term]]]) -> list[tuple[Place, Term]]:
    """Sums terms of equal places. Places that overlap and are not equal are written out as the whole parameter."""
    by_parameter: dict[int, list[tuple[Place, list[Term]]]] = {}
    for place, terms in found:
        by_parameter.setdefault(id(place[0]), []).append((place, terms))
    result: list[tuple[Place, Term]] = []
    for own in by_parameter.values():
        own.sort(key=lambda entry: entry[0][1:])
        overlap = any(first[0][2] > second[0][1] for first, second in zip(own, own[1:], strict=False))
        if not overlap:
            result.extend((place, together(terms, shape_of(place))) for place, terms in own)
            continue
        parameter = own[0][0][0]
        total: Tensor | None = None
        for place, terms in own:
            part = together(terms, shape_of(place))
            if total is None:
                total = part.full().new_zeros(part.rows, *parameter.shape)
            total[:, place[1] : place[2]] += part.full().reshape(part.rows, *shape_of(place))
        if total is not None:
            result.append((whole(parameter), Full(total)))
    return result


def shape_of(place: Place) -> torch.Size:
    """The shape of a place."""
    parameter, start, end = place
    if parameter.dim() == 0:
        return parameter.shape
    return torch.Size((end - start, *parameter.shape[1:]))


def positions(values: Tensor) -> Tensor:
    """(rows, ..., features) as (rows, 1, positions, features)."""
    count = math.prod(values.shape[1:-1])
    return values.reshape(values.shape[0], 1, count, values.shape[-1])
