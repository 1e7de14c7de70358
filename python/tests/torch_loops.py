"""Per-example gradients by loops over examples, to compare taps with."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from reticent.torch.layers import attach_all
from reticent.torch.taps import Taps, shape_of


def random_loss(output: Any, seed: int = 0) -> Tensor:
    """A loss of every example: a fixed random combination of all its outputs, and of their squares."""
    parts = [output] if isinstance(output, Tensor) else [part for part in output if isinstance(part, Tensor)]
    generator = torch.Generator().manual_seed(seed)
    total: Tensor | None = None
    for part in parts:
        weights = torch.randn(part.shape[1:], generator=generator, dtype=torch.float64).to(part)
        own = (part * weights + 0.3 * part.square()).flatten(1).sum(1)
        total = own if total is None else total + own
    assert total is not None
    return total


def loop_gradients(model: nn.Module, inputs: tuple[Any, ...], run: Any) -> list[dict[str, Tensor]]:
    """The gradient of every example's loss by autograd, from a batch of that example alone."""
    model = copy.deepcopy(model)
    rows = inputs[0].shape[0]
    found = []
    for row in range(rows):
        model.zero_grad(set_to_none=True)
        one = tuple(own[row : row + 1] if isinstance(own, Tensor) else own for own in inputs)
        run(model, one).sum().backward()
        found.append({
            name: torch.zeros_like(own) if own.grad is None else own.grad.clone()
            for name, own in model.named_parameters()
            if own.requires_grad
        })
    return found


def tapped_terms(model: nn.Module, inputs: tuple[Any, ...], run: Any, rows: int) -> dict[str, list[Any]]:
    """The terms of one backward pass, by the name of their parameter."""
    names = {own: name for name, own in model.named_parameters() if own.requires_grad}
    for own in names:
        own.requires_grad_(False)
    taps = Taps(model, names)
    attach_all(taps)
    taps.rows = rows
    seen: list[Any] = []
    taps.listener = lambda give: give(seen.extend)
    taps.start()
    run(model, inputs).sum().backward()
    taps.remove()
    for own in names:
        own.requires_grad_(True)
    found: dict[str, list[Any]] = {name: [] for name in names.values()}
    for place, term in seen:
        found[names[place[0]]].append((place, term))
    return found


def compare(model: nn.Module, inputs: tuple[Any, ...], run: Any = None, tolerance: float = 1e-9) -> None:
    """Norms and weighted sums of the taps are those of the loop, relative to the largest."""
    run = run or (lambda model, inputs: random_loss(model(*inputs)))
    model.train()
    loops = loop_gradients(model, inputs, run)
    rows = len(loops)
    terms = tapped_terms(model, inputs, run, rows)
    weights = torch.linspace(-1.0, 2.0, rows, dtype=torch.float64)
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        squared = torch.stack([own[name].square().sum() for own in loops])
        total = sum(weight * own[name] for weight, own in zip(weights, loops, strict=True))
        got = torch.zeros_like(squared)
        into = torch.zeros_like(parameter.detach())
        for place, term in terms[name]:
            got += term.squared()
            part = into if parameter.dim() == 0 else into[place[1] : place[2]]
            assert shape_of(place) == part.shape
            term.add(weights, part)
            full = term.full().reshape(rows, *part.shape)
            for row in range(rows):
                expected = loops[row][name] if parameter.dim() == 0 else loops[row][name][place[1] : place[2]]
                assert torch.allclose(full[row], expected, rtol=tolerance, atol=tolerance), (name, row)
        scale = max(1.0, float(squared.max()))
        assert torch.all((got - squared).abs() <= 1e-7 * scale), (name, got, squared)
        # Never less than it is, but for the last digits.
        assert torch.all(got >= squared * (1 - 1e-12) - 1e-18), (name, got, squared)
        assert isinstance(total, Tensor)
        assert torch.allclose(into, total, rtol=tolerance, atol=tolerance * scale**0.5), name


def compare_single(model: nn.Module, inputs: tuple[Any, ...], tolerance: float = 1e-4) -> dict[str, list[Any]]:
    """Norms and weighted sums of taps in single precision are those of a loop in double precision, relative to the largest; norms are not
    shorter than they are by more than rounding. Returns the terms."""

    def run(model: nn.Module, inputs: tuple[Any, ...]) -> Tensor:
        return random_loss(model(*inputs))

    model = model.float().train()
    single = tuple(own.float() for own in inputs)
    loops = loop_gradients(copy.deepcopy(model).double(), tuple(own.double() for own in single), run)
    rows = len(loops)
    terms = tapped_terms(model, single, run, rows)
    weights = torch.linspace(-1.0, 2.0, rows, dtype=torch.float64)
    for name in (name for name, _ in model.named_parameters()):
        squared = torch.stack([own[name].square().sum() for own in loops])
        total = sum(weight * own[name] for weight, own in zip(weights, loops, strict=True))
        assert isinstance(total, Tensor)
        ((place, term),) = terms[name]
        got = term.squared().double()
        # What rounding may hide is added where gradients are not written out.
        hidden = 2.0**-15 * float(term.parts().double().square().max())
        assert torch.all(got >= squared * (1 - tolerance)), (name, got, squared)
        assert torch.all(got <= squared * (1 + tolerance) + 2 * hidden), (name, got, squared)
        into = torch.zeros(shape_of(place), dtype=torch.float32)
        term.add(weights, into)
        length = float(total.norm()) + float(squared.max().sqrt())
        assert float((into.double() - total).norm()) <= tolerance * length, name
        full = term.full().reshape(rows, *shape_of(place)).double()
        for row in range(rows):
            assert float((full[row] - loops[row][name]).norm()) <= tolerance * length, (name, row)
    return terms
