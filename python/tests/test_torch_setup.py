"""What make_private is given, and what becomes of it before the first step: loaders, criteria, modules that move, settings of PyTorch."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from reticent.errors import RequestError  # noqa: E402
from reticent.torch import BatchMemoryManager  # noqa: E402
from test_torch_engine import data, network, private, step  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402


def test_a_private_loader_can_be_made_private_again():
    """As the second training of a notebook does: with a plan of its own."""
    first, model, optimizer, loader = private(batch_size=20)
    step(model, optimizer, next(iter(loader)))
    second, model, optimizer, again = private(loader=loader, epochs=1)
    assert again is not loader and again.dataset is loader.dataset and again.sample_rate == loader.sample_rate
    for batch in again:
        step(model, optimizer, batch)
    assert (first.steps, second.steps) == (1, 3)


@pytest.mark.parametrize("form", ["three", "labels", "unnamed", "alone"])
def test_the_criterion_is_checked_with_the_target_of_a_batch(form):
    rows = {
        "three": [(x, torch.zeros(2), y) for x, y in data()],
        "labels": [{"input": x, "labels": y} for x, y in data()],
        "unnamed": [{"input": x, "aim": y} for x, y in data()],
        "alone": [(x,) for x, _ in data()],
    }[form]
    options = {"loader": DataLoader(rows, batch_size=20), "criterion": nn.CrossEntropyLoss()}
    if form in ("unnamed", "alone"):
        with pytest.raises(RequestError, match="no part"):
            private(**options)
        return
    engine, model, optimizer, loader = private(**options)
    batch = next(iter(loader))
    x, y = (batch[0], batch[-1]) if form == "three" else (batch["input"], batch["labels"])
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    # Of several parts, nobody knows which one the loop compares with.
    assert ("through the criterion" in json.dumps(engine.certificate().to_dict())) == (form == "labels")
    mixing = lambda output, aim: nn.functional.cross_entropy(output - output.mean(0), aim)  # noqa: E731
    engine, model, optimizer, loader = private(**{**options, "criterion": mixing})
    next(iter(loader))
    with pytest.raises(RequestError, match="examples mix"):
        model(torch.zeros(engine.run.batch.rows, 5))


def test_every_part_that_may_be_the_target_is_checked():
    """Classes with weights mix examples; scores beside them, which the criterion takes as well, do not."""
    weights = torch.tensor([1.0, 50.0])
    scores = torch.tensor([0.3, 0.7])
    rows = [(x, y, scores) for x, y in data()]
    engine, model, _, loader = private(loader=DataLoader(rows, batch_size=20), criterion=nn.CrossEntropyLoss(weight=weights))
    x, _, _ = next(iter(loader))
    with pytest.raises(RequestError, match="examples mix"):
        model(x)


def test_the_last_part_is_the_target():
    """Where the criterion does not compute with it, another part does not stand in."""
    rows = [(x, y, torch.zeros(7)) for x, y in data()]
    engine, model, _, loader = private(loader=DataLoader(rows, batch_size=20), criterion=nn.CrossEntropyLoss())
    x, _, _ = next(iter(loader))
    with pytest.raises(RequestError, match="cannot compute"):
        model(x)


@pytest.mark.parametrize("kind", ["function", "module", "tuple"])
def test_functions_that_leave_targets_out_are_found(kind):
    """A mean over the targets of a batch that count mixes examples, also where a function hides that some do not."""

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(5, 8)

        def forward(self, x):
            return self.net(x).view(-1, 4, 2)

    def mixing(output, aim):
        return nn.functional.cross_entropy(output.flatten(0, 1), aim.flatten())

    class Mixing(nn.Module):
        def forward(self, output, aim):
            return mixing(output, aim)

    criterion = {"function": mixing, "module": Mixing(), "tuple": lambda output, aim: (output.sum(), aim)}[kind]
    rows = [(x, torch.tensor([0, 1, 1, 0])) for x, _ in data()]
    engine, model, _, loader = private(Tagger(), loader=DataLoader(rows, batch_size=20), criterion=criterion)
    x, _ = next(iter(loader))
    with pytest.raises(RequestError, match="several numbers" if kind == "tuple" else "examples mix"):
        model(x)


@pytest.mark.parametrize("loss", [nn.HuberLoss, nn.MSELoss])
def test_targets_have_the_precision_of_the_output(loss):
    rows = [(x, x[:2]) for x, _ in data()]
    engine, model, optimizer, loader = private(loader=DataLoader(rows, batch_size=20), criterion=loss(), loss_reduction="mean")
    model.double()
    x, y = next(iter(loader))
    loss()(model(x.double()), y.double()).backward()
    optimizer.step()
    assert engine.steps == 1


@pytest.mark.parametrize("count", [0, 1, 2])
def test_the_criterion_is_checked_with_the_output_of_the_examples(count):
    class Several(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = network()

        def forward(self, x):
            own = self.net(x)
            return {"loss": own.mean(), **{str(place): own + place for place in range(count)}}

    engine, model, optimizer, loader = private(Several(), criterion=nn.CrossEntropyLoss())
    x, y = next(iter(loader))
    if count != 1:
        with pytest.raises(RequestError, match="a part for every example"):
            model(x)
    else:
        nn.functional.cross_entropy(model(x)["0"], y).backward()
        optimizer.step()
        assert engine.steps == 1


def test_a_module_that_is_moved_takes_its_sum_along():
    engine, model, optimizer, loader = private()
    model.double()
    for x, y in loader:
        step(model, optimizer, (x.double(), y))
        assert engine.run.sum.kind == torch.float64 and model[0].weight.dtype == torch.float64
    assert engine.steps == 3
    engine, model, optimizer, loader = private()
    # A device that the module is not on.
    engine.run.sum = engine.run.sum.__class__([nn.Parameter(own.detach().to("meta")) for own in engine.run.names])
    engine.run.sum.parameters = list(engine.run.names)
    step(model, optimizer, next(iter(loader)))
    assert engine.run.sum.device.type == "cpu" and engine.steps == 1


def test_a_module_is_not_moved_in_the_middle_of_a_step():
    engine, model, optimizer, loader = private()
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=2, optimizer=optimizer) as parts:
        batches = iter(parts)
        step(model, optimizer, next(batches))
        x, y = next(batches)
        model.double()
        with pytest.raises(RequestError, match="in the middle of a step"):
            step(model, optimizer, (x.double(), y))


@pytest.mark.parametrize("way", ["legacy", "matmul"])
def test_norms_are_computed_in_full_precision_however_it_was_set(way):
    """In a process of its own: PyTorch's settings do not go back to what they were."""
    code = f"""
import torch
from reticent.torch.run import full_precision

if {way == "legacy"}:
    torch.set_float32_matmul_precision("medium")
    state = torch.get_float32_matmul_precision
else:
    own = getattr(torch.backends.mkldnn, "{way}", None)
    if own is None:
        raise SystemExit
    own.fp32_precision = "bf16"
    state = lambda: own.fp32_precision
before = state()
with full_precision():
    inside = state()
assert inside in ("highest", "ieee") and state() == before != inside, (before, inside, state())
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_products_of_fewer_digits_are_refused(monkeypatch):
    """Settings of the environment can ask for them."""
    from reticent.torch import sums

    plain = Tensor.__matmul__

    def rough(*args, **kwargs):
        return plain(*(own.bfloat16().float() if isinstance(own, Tensor) else own for own in args), **kwargs)

    model = nn.Linear(2, 2)
    sums.GradientSum(list(model.parameters())).check_products()
    monkeypatch.setattr(Tensor, "__matmul__", rough)
    with pytest.raises(RequestError, match="fewer digits"):
        sums.GradientSum(list(model.parameters())).check_products()
