"""A check on made-up inputs, before the first step: examples do not mix, in the module and in the loss, and the taps see the whole
gradient of every parameter.

Only the shapes and types of the first batch are used. The check changes nothing: random numbers, buffers and the mode of the module
are put back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map

from ..errors import RequestError
from . import refusals
from .sums import part
from .taps import Place
from .terms import Term, finest, wide

if TYPE_CHECKING:
    from .run import Run

#: How integers and truth values are made up: the least integer, how many there are, and the truth value. The first form that the
#: module can compute with is taken.
FORMS = [(0, 2, True), (1, 2, True), (1, 1, True), (0, 1, True), (0, 2, False), (1, 1, False), (0, 1, False)]

#: Numbers that are added up at a time: copies of more would be the most memory of a training of small batches.
PIECE = 1 << 17

#: Relative error of single precision that is not taken for a difference.
TOLERANCE = 1e-3

#: The same of half precision.
LOW_TOLERANCE = 0.1


def made_up(values: Any, rows: int, count: int, axis: int, form: tuple[int, int, bool], seed: int) -> Any:
    """Values of the same form with ``count`` examples, drawn from a seed."""
    generator = torch.Generator("cpu").manual_seed(seed)
    least, kinds, truth = form

    def one(item: Any) -> Any:
        if not isinstance(item, Tensor):
            return item
        if item.dim() <= axis or item.shape[axis] != rows:
            return item
        shape = list(item.shape)
        shape[axis] = count
        if item.is_floating_point():
            return torch.randn(shape, generator=generator, device="cpu").to(item)
        if item.dtype == torch.bool:
            return torch.full(shape, truth, device=item.device)
        return (torch.randint(0, kinds, shape, generator=generator, device="cpu") + least).to(item)

    return tree_map(one, values)


def changed(values: Any, other: Any, count: int, axis: int, example: int) -> Any:
    """Values with one example from others."""

    def one(item: Any, another: Any) -> Any:
        if not isinstance(item, Tensor) or item.dim() <= axis or item.shape[axis] != count:
            return item
        mixed = item.clone()
        mixed.select(axis, example).copy_(another.select(axis, example))
        return mixed

    return tree_map(one, values, other)


def float_tensors(output: Any) -> list[Tensor]:
    """The tensors of an output that gradients can come from."""
    return [item for item in tree_flatten(output)[0] if isinstance(item, Tensor) and item.is_floating_point()]


def squared_length(values: Tensor) -> Tensor:
    """The sum of the squares of all numbers."""
    pieces = wide(values).reshape(-1).split(PIECE)
    return torch.stack([piece.dot(piece) for piece in pieces]).sum(dtype=finest(values.device))


def proportional(small: tuple[int, ...], large: tuple[int, ...]) -> int | None:
    """The first axis whose sizes are as 2 to 3."""
    if len(small) != len(large):
        return None
    for axis, (one, other) in enumerate(zip(small, large, strict=True)):
        if one and 3 * one == 2 * other:
            return axis
    return None


def kept_by(module: nn.Module) -> list[tuple[nn.Module, str, Tensor, Tensor]]:
    """The tensors that modules keep in buffers and attributes, and what they hold."""
    found: list[tuple[nn.Module, str, Tensor]] = []
    for own in module.modules():
        found.extend((own, name, value) for name, value in own.__dict__.items() if isinstance(value, Tensor))
        found.extend((own, name, value) for name, value in own._buffers.items() if value is not None)
    return [(own, name, value, value.detach().clone()) for own, name, value in found]


def restore(kept: list[tuple[nn.Module, str, Tensor, Tensor]]) -> None:
    """Puts them back."""
    with torch.no_grad():
        for own, name, value, content in kept:
            if not torch.equal(value, content):
                value.detach().copy_(content)
            (own._buffers if name in own._buffers else own.__dict__)[name] = value


@contextmanager
def undisturbed(run: Run) -> Iterator[bool]:
    """Puts back what a forward pass may change. Tells whether cuDNN is in use, which it is not meanwhile."""
    module, taps = run.module, run.taps
    kept = kept_by(module)
    modes = [(own, own.training) for own in module.modules()]
    rows, listener = taps.rows, taps.listener
    devices = [run.sum.device] if run.sum.device.type == "cuda" else []
    fast, cudnn = torch.backends.mha.get_fastpath_enabled(), torch.backends.cudnn.enabled
    # Its recurrent layers have no gradients in eval mode, and its convolutions may have few digits.
    torch.backends.cudnn.enabled = False
    try:
        with torch.random.fork_rng(devices=devices), torch.autocast(run.sum.device.type, enabled=False):
            yield cudnn
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        torch.backends.cudnn.enabled = cudnn
        restore(kept)
        for layer, mode in modes:
            layer.training = mode
        for parameter in run.names:
            parameter.requires_grad_(False)
        taps.rows, taps.listener, taps.is_forced = rows, listener, False
        taps.drop()


class Unfit(Exception):
    """A criterion does not compute with a part of the batch."""


def placed(target: Any, output: Tensor) -> Any:
    """A target on the device of an output, and its numbers in the same precision."""

    def one(item: Any) -> Any:
        if not isinstance(item, Tensor):
            return item
        return item.to(output.device, output.dtype) if item.is_floating_point() else item.to(output.device)

    return tree_map(one, target)


class _Check:
    def __init__(self, run: Run, args: Any, kwargs: Any, has_cudnn: bool) -> None:
        self.run, self.given, self.has_cudnn = run, (args, kwargs), has_cudnn
        assert run.batch is not None
        self.rows, self.axis = run.batch.rows, 0 if run.batch_first else 1
        self.form = FORMS[0]
        self.output_axes: list[int | None] = []

    @property
    def tolerance(self) -> float:
        """What is not taken for a difference, in the precision that the module computes in."""
        exact = all(own.dtype in (torch.float32, torch.float64) for own in self.run.names)
        return TOLERANCE if exact and not self.run.taps.is_low else LOW_TOLERANCE

    def inputs(self, count: int, seed: int) -> Any:
        return made_up(self.given, self.rows, count, self.axis, self.form, seed)

    def call(self, inputs: Any, seed: int = 5) -> Any:
        torch.manual_seed(seed)
        args, kwargs = inputs
        return self.run.module(*args, **kwargs)

    def outputs(self, inputs: Any) -> list[Tensor]:
        """The outputs with the examples in front."""
        found = float_tensors(self.call(inputs))
        pairs = zip(found, self.output_axes, strict=True)
        return [own.transpose(0, axis) for own, axis in pairs if axis is not None]

    def find_form(self) -> None:
        """A form of made-up inputs that the module can compute with, where the examples are in every layer, and in the outputs."""
        taps, failure = self.run.taps, None
        taps.rows = None
        for form in FORMS:
            self.form = form
            try:
                shapes, outputs = [], []
                for count in (2, 3):
                    with torch.no_grad(), taps.discovering() as sizes:
                        output = float_tensors(self.call(self.inputs(count, 1)))
                    if not all(bool(torch.isfinite(own).all()) for own in output):
                        raise ValueError("its outputs are not finite")
                    shapes.append(sizes)
                    outputs.append(output)
            except Exception as error:
                failure = failure or error
                continue
            pairs = zip(*outputs, strict=True)
            self.output_axes = [proportional(tuple(two.shape), tuple(three.shape)) for two, three in pairs]
            taps.layouts = {
                name: [
                    proportional(two, three)
                    for two, three in zip(own, shapes[1].get(name, []), strict=False)
                ]
                for name, own in shapes[0].items()
            }
            taps.layouts = {name: own for name, own in taps.layouts.items() if own}
            return
        raise refusals.misuse(
            "module",
            f"it cannot compute with made-up inputs of the batch's shapes ({failure}): check=False trains without the "
            "check, on your word that examples do not mix",
        ) from failure

    def check_mixing(self) -> None:
        """What one example is does not change what others give."""
        one, other = self.inputs(3, 1), self.inputs(3, 2)
        with torch.no_grad():
            before, after = self.outputs(one), self.outputs(changed(one, other, 3, self.axis, 1))
        if not before:
            raise refusals.misuse(
                "module",
                "none of its outputs has a part for every example: return one, or train with check=False on your word "
                "that examples do not mix",
            )
        for own, another in zip(before, after, strict=True):
            scale = float(own.abs().max()) + 1e-30
            each = own.shape[0] // 3
            for example in (0, 2):
                rows = slice(example * each, (example + 1) * each)
                if float((own[rows] - another[rows]).abs().max()) > 1e-4 * scale:
                    raise refusals.misuse(
                        "module",
                        "examples mix: what it gives for one example changes with the others, so no gradient is one "
                        "example's alone; find the layer that computes over the batch (such as a batch norm)",
                    )

    def check_memory(self) -> None:
        """What the module gives does not depend on earlier inputs, which have no noise."""
        with torch.no_grad():
            found = []
            for seed in (1, 2):
                before = kept_by(self.run.module)
                self.call(self.inputs(3, seed))
                found.append(float_tensors(self.call(self.inputs(3, 3))))
                restore(before)
        for one, other in zip(*found, strict=True):
            scale = 0.1 * self.tolerance * (float(one.abs().max()) + 1e-30) if one.numel() else 0.0
            if one.shape != other.shape or (one.numel() and float((one - other).abs().max()) > scale):
                raise refusals.misuse(
                    "module",
                    "what it gives depends on the inputs of earlier calls, so gradients would depend on earlier batches without "
                    "noise: compute every batch by itself",
                )

    def weights(self) -> dict[str, tuple[float, float]]:
        """Two numbers of every parameter that tell whether it was changed."""
        with torch.no_grad():
            found = {}
            for name, own in self.run.module.named_parameters():
                if own.is_floating_point():
                    total, square = 0.0, 0.0
                    for piece in own.reshape(-1).split(PIECE):
                        exact = piece.to(finest(own.device))
                        total, square = total + float(exact.sum()), square + float(exact.dot(exact))
                    found[name] = (total, square)
            return found

    def check_buffers(self) -> None:
        """Nothing that the module keeps depends on its inputs: buffers are released with the model, without noise."""
        weights = self.weights()
        own = dict(self.run.module.named_buffers())
        start = {name: value.clone() for name, value in own.items()}
        kept = []
        for seed in (1, 2):
            with torch.no_grad():
                self.call(self.inputs(3, seed))
                kept.append({name: value.clone() for name, value in own.items()})
                for name, value in own.items():
                    value.copy_(start[name])
        for name, before in self.weights().items():
            if before != weights[name]:
                raise refusals.layer(name, "the module writes into this parameter when it is called, without noise: compute without it")
        for name in own:
            if not torch.equal(kept[0][name], kept[1][name]):
                raise refusals.layer(
                    name, "the module keeps numbers about its inputs in this buffer, without noise: compute without it"
                )

    def losses(self, inputs: Any) -> Tensor:
        """A number of every example that depends on all its outputs."""
        total: Tensor | None = None
        for place, own in enumerate(self.outputs(inputs)):
            flat = own.reshape(3, -1)
            generator = torch.Generator("cpu").manual_seed(place)
            weights = torch.randn(flat.shape[1], generator=generator, device="cpu").to(flat)
            part = (flat * weights).sum(1) / flat.shape[1] ** 0.5
            total = part if total is None else total + part
        assert total is not None
        return total

    def check_gradients(self) -> None:
        """The taps give the gradient of every parameter, example by example."""
        run = self.run
        run.module.eval()
        torch.backends.mha.set_fastpath_enabled(False)
        inputs = self.inputs(3, 3)
        weights = torch.tensor([0.5, -1.0, 2.0], device=run.sum.device)
        parameters = list(run.names)
        squared, summed = self.by_autograd(inputs, parameters, weights)
        found: list[tuple[Place, Term]] = []
        run.taps.rows, run.taps.is_forced, run.taps.listener = 3, True, lambda give: give(found.extend)
        with self.as_trained(is_tapped=True):
            losses = self.losses(inputs)
            if not losses.requires_grad:
                raise refusals.misuse("module", "no output depends on a trained parameter")
            losses.sum().backward()
        run.taps.rows = None
        kind = finest(run.sum.device)
        own_squared = {own: torch.zeros(3, dtype=kind, device=run.sum.device) for own in parameters}
        with torch.no_grad():
            # What is left of the sum when that of the taps is taken away.
            left = self.by_gpu(found, -weights, own_squared, summed)
            for place, term, factors in left:
                term.add(factors, part(summed, place))
        tolerance = self.tolerance
        for own, name in run.names.items():
            if not bool(torch.isfinite(squared[own]).all()):
                remedy = "its gradient is not finite on made-up inputs, so it cannot be checked: see where the module divides or takes roots"
                raise refusals.layer(name, f"{remedy}, or train with check=False on your word that examples do not mix")
        scale = float(torch.stack(list(squared.values())).sum(0).max().sqrt()) + 1e-12
        for own, name in run.names.items():
            length = float(squared[own].max().sqrt())
            seen, true = own_squared[own].sqrt(), squared[own].sqrt()
            room = tolerance * (length + 0.03 * scale)
            # Norms of long sums are longer by what rounding may hide of them.
            is_whole = bool(((seen >= true - room) & (seen <= 2 * true + room)).all())
            other = float(squared_length(summed[own]).sqrt())
            # What is not a number is not small.
            if not (is_whole and other <= tolerance * (3 * length + 0.1 * scale)):
                raise refusals.layer(
                    name,
                    "its gradient is not seen example by example: use the parameter through its own layer, or freeze it",
                )

    def by_gpu(
        self,
        found: list[tuple[Place, Term]],
        factors: Tensor,
        squared: dict[nn.Parameter, Tensor],
        summed: dict[nn.Parameter, Tensor],
    ) -> list[tuple[Place, Term, Tensor]]:
        """Measures gradients, and adds them to sums, in the way that trains. Those that are not added yet are given back."""
        gpu = self.run.sum.clipping()
        if gpu is None:
            for place, term in found:
                squared[place[0]] += term.squared().to(squared[place[0]].dtype)
            return [(place, term, factors) for place, term in found]
        columns: dict[nn.Parameter, list[tuple[Place, Term]]] = {}
        for place, term in found:
            columns.setdefault(place[0], []).append((place, term))
        measured = gpu.squared(list(columns.values()), factors.shape[0])
        for own, column in zip(columns, measured.unbind(1), strict=True):
            squared[own] += column
        each = factors.to(torch.float32).unsqueeze(1).expand(-1, len(columns)).contiguous()
        return gpu.add(list(columns.values()), each, lambda place: (part(summed, place).data_ptr(), 1))

    @contextmanager
    def as_trained(self, is_tapped: bool) -> Iterator[None]:
        """Computes with the kernels that train the module, those of cuDNN among them: with others, rounding decides some of a ReLU's zeros
        differently. PyTorch's own recurrent layers of cuDNN have no gradients here, and compute without it."""
        recurrent = [own for own in self.run.module.modules() if isinstance(own, nn.RNNBase)]
        apart = [own for own in recurrent if not (is_tapped and "forward" in own.__dict__)]

        def switch(is_on: bool) -> Any:
            def switched(*_: Any) -> None:
                torch.backends.cudnn.enabled = is_on

            return switched

        handles = [own.register_forward_pre_hook(switch(False)) for own in apart]
        handles += [own.register_forward_hook(switch(self.has_cudnn), always_call=True) for own in apart]
        torch.backends.cudnn.enabled = self.has_cudnn
        try:
            yield
        finally:
            torch.backends.cudnn.enabled = False
            for handle in handles:
                handle.remove()

    def by_autograd(
        self, inputs: Any, parameters: list[nn.Parameter], weights: Tensor
    ) -> tuple[dict[nn.Parameter, Tensor], dict[nn.Parameter, Tensor]]:
        """Squared norms of every example, and a weighted sum, as autograd has them."""
        run = self.run
        run.taps.rows = None
        memory: set[int] = set()

        def alone(values: Tensor) -> Tensor:
            """In memory of its own: autograd may give several parameters, or several numbers of one, the same memory."""
            own = values.untyped_storage().data_ptr()
            if own in memory or not values.is_contiguous():
                return values.clone(memory_format=torch.contiguous_format)
            memory.add(own)
            return values

        for own in parameters:
            own.requires_grad_(True)
        with self.as_trained(is_tapped=False):
            losses = self.losses(inputs)
            squared: dict[nn.Parameter, list[Tensor]] = {own: [] for own in parameters}
            for example in range(3):
                for own, gradient in zip(parameters, self.gradients(losses[example], parameters), strict=True):
                    squared[own].append(squared_length(gradient))
            summed = dict(zip(parameters, self.gradients((losses * weights).sum(), parameters), strict=True))
        for own in parameters:
            own.requires_grad_(False)
        flat = {own: alone(value.reshape(-1).to(run.sum.kind)) for own, value in summed.items()}
        return {own: torch.stack(values) for own, values in squared.items()}, flat

    @staticmethod
    def gradients(loss: Tensor, parameters: list[nn.Parameter]) -> list[Tensor]:
        if not loss.requires_grad:
            return [torch.zeros_like(own) for own in parameters]
        found = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
        pairs = zip(found, parameters, strict=True)
        return [torch.zeros_like(own) if gradient is None else gradient for gradient, own in pairs]

    def loss_gradients(self, inputs: Any, count: int, examples: tuple[int, ...]) -> list[Tensor]:
        """Gradients of single examples of the loss that the module itself gives, as they would be clipped."""
        run, found = self.run, []
        collected: list[tuple[Place, Term]] = []
        run.taps.rows, run.taps.is_forced, run.taps.listener = count, True, lambda give: give(collected.extend)
        own = [item for item in float_tensors(self.call(inputs)) if item.dim() == 0]
        torch.stack(own).sum().backward()
        run.taps.rows = None
        for example in examples:
            flat = torch.zeros(run.sum.length, dtype=run.sum.kind, device=run.sum.device)
            weights = torch.zeros(count, device=run.sum.device)
            weights[example] = float(count) if run.loss_reduction == "mean" else 1.0
            parts = run.sum.split(flat)
            with torch.no_grad():
                for place, term in collected:
                    term.add(weights, part(parts, place))
            found.append(flat)
        return found

    def check_own_loss(self) -> None:
        """If the module gives a loss: it is the mean, or the sum, of losses of single examples, also where labels are left out."""
        self.run.module.eval()
        torch.backends.mha.set_fastpath_enabled(False)
        one, other = self.inputs(3, 1), self.inputs(3, 2)
        with torch.no_grad():
            if not any(item.dim() == 0 for item in float_tensors(self.call(one))):
                return
        whole = self.loss_gradients(one, 3, (0, 2))
        scale = max(float(own.norm()) for own in whole) + 1e-30
        others = [changed(one, other, 3, self.axis, 1)]
        args, kwargs = one
        for key, value in kwargs.items():
            if "label" in key and isinstance(value, Tensor) and value.dim() > 1 and not value.is_floating_point():
                partly = value.clone()
                partly[1, 2:] = -100
                others.append((args, {**kwargs, key: partly}))
        for moved in others:
            pairs = zip(whole, self.loss_gradients(moved, 3, (0, 2)), strict=True)
            if not all(float((own - another).norm()) <= self.tolerance * scale for own, another in pairs):
                raise refusals.misuse(
                    "module",
                    "examples mix in the loss that it gives, as in a mean over the tokens of the whole batch: take its logits "
                    "and reticent.torch.sequence_loss(logits, labels), and do not give it labels",
                )
        fewer = tree_map(
            lambda item: item.narrow(self.axis, 0, 2)
            if isinstance(item, Tensor) and item.dim() > self.axis and item.shape[self.axis] == 3
            else item,
            one,
        )
        (part,) = self.loss_gradients(fewer, 2, (0,))
        if not float((part - whole[0]).norm()) <= self.tolerance * scale:
            raise refusals.misuse(
                "loss_reduction",
                f"the module's loss is not the {self.run.loss_reduction} of the examples' losses: state loss_reduction='mean' "
                "or 'sum' as it is",
            )

    def check_criterion(self, criterion: Any) -> None:
        """The loss is the mean, or the sum, of losses of single examples, whichever part of the batch it compares the output with."""
        with torch.no_grad():
            pairs = zip(float_tensors(self.call(self.inputs(3, 1))), self.output_axes, strict=True)
        found = [(own, own_axis) for own, own_axis in pairs if own_axis is not None and own.shape[own_axis] == 3]
        if len(found) != 1:
            remedy = f"the module gives {len(found) or 'no'} tensors with a part for every example, where the check needs one to go through"
            raise refusals.misuse("criterion", f"{remedy}: leave it out")
        # The last part is the target; others may be.
        for count, target in enumerate(reversed(self.run.targets)):
            try:
                self.check_loss(criterion, placed(target, found[0][0]), *found[0])
            except Unfit as error:
                if count == 0:
                    remedy = f"it cannot compute with the module's output and a made-up target ({error}): leave it out"
                    raise refusals.misuse("criterion", remedy) from error
            except RequestError as error:
                if count == 0:
                    raise
                remedy = f"it was tried with every part of a batch that it takes, and refused with one before the last ({error})"
                raise refusals.misuse("criterion", f"{remedy}: give batches of input and target, or leave it out") from error

    def check_loss(self, criterion: Any, target: Any, output: Tensor, axis: int) -> None:
        """The loss of this output and target is the mean, or the sum, of losses of single examples."""
        reduction = self.run.loss_reduction
        goal = made_up(target, 1, 3, 0, self.form, 4)
        another = made_up(target, 1, 3, 0, (self.form[0], 2, not self.form[2]), 9)
        # Functions do not tell, and PyTorch's leave out this one.
        ignored = getattr(criterion, "ignore_index", -100)

        def slopes(output: Tensor, goal: Any) -> Tensor:
            own = output.detach().clone().requires_grad_(True)
            try:
                loss = criterion(own, goal)
            except Exception as error:
                raise Unfit(str(error)) from error
            if not isinstance(loss, Tensor) or loss.dim():
                raise refusals.misuse("criterion", "it gives several numbers: give one with reduction='mean' or 'sum'")
            try:
                (gradient,) = torch.autograd.grad(loss, own)
            except RuntimeError as error:
                raise Unfit(str(error)) from error
            count = own.shape[axis] if reduction == "mean" else 1
            return gradient.transpose(0, axis) * count

        whole = slopes(output, goal)
        scale = float(whole.abs().max()) + 1e-30
        others = [changed((output, goal), (output.flip(axis) * 2 + 1, another), 3, axis, 1)]
        if isinstance(goal, Tensor) and isinstance(ignored, int) and goal.dim() > 1 and not goal.is_floating_point():
            partly = goal.clone()
            partly[1, ..., 1:] = ignored
            others.append((output, partly))
        weight = getattr(criterion, "weight", None)
        if isinstance(goal, Tensor) and isinstance(weight, Tensor) and weight.dim() == 1 and not goal.is_floating_point():
            # A mean with weights of classes is divided by the weights of all examples.
            for kind in (int(weight.argmin()), int(weight.argmax())):
                heavy = goal.clone()
                heavy[1] = kind
                others.append((output, heavy))
        for place, (values, aim) in enumerate(others):
            try:
                moved = slopes(values, aim)
            except Unfit:
                if place == 0:
                    raise
                # No target of this kind.
                continue
            if not float((moved[[0, 2]] - whole[[0, 2]]).abs().max()) <= TOLERANCE * scale:
                raise refusals.misuse(
                    "criterion",
                    "examples mix: the loss of one changes the gradient of another, as in a mean over the tokens of the "
                    "whole batch or with class weights; give the mean over examples of a loss of every example",
                )
        fewer = tree_map(lambda item: item[:2] if isinstance(item, Tensor) and item.dim() else item, goal)
        part = slopes(output.narrow(axis, 0, 2), fewer)
        if not float((part - whole[:2]).abs().max()) <= TOLERANCE * scale:
            raise refusals.misuse(
                "loss_reduction",
                f"the criterion does not give the {reduction} of the examples' losses: state loss_reduction='mean' or "
                "'sum' as it does",
            )


def check(run: Run, args: Any, kwargs: Any) -> None:
    """Checks a module with made-up inputs of the shapes of these."""
    from .run import full_precision

    with undisturbed(run) as has_cudnn, torch.enable_grad():
        own = _Check(run, args, kwargs, has_cudnn)
        own.find_form()
        own.check_buffers()
        own.check_memory()
        own.check_mixing()
        if run.criterion is not None:
            own.check_criterion(run.criterion)
        try:
            with full_precision():
                own.check_gradients()
        except RuntimeError as error:
            if "use_reentrant" not in str(error):
                raise
            remedy = "torch.utils.checkpoint with use_reentrant=True computes gradients in pieces: give use_reentrant=False"
            raise refusals.misuse("module", remedy) from error
        own.check_own_loss()


def find_layouts(run: Run, args: Any, kwargs: Any) -> None:
    """Finds where examples are in every layer, without any other check. A module that cannot compute with made-up inputs has them in
    front of every layer; one with parameters of its own is refused then."""
    with undisturbed(run) as has_cudnn, torch.enable_grad():
        try:
            _Check(run, args, kwargs, has_cudnn).find_form()
        except RequestError:
            if run.taps.has_copies:
                raise
