"""Attempts to have a private training release something without noise, or uncounted."""

from __future__ import annotations

import copy
import io
import os
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from reticent.errors import DataError, InvalidValueError, ReticentError, RequestError  # noqa: E402
from reticent.torch import BatchMemoryManager  # noqa: E402
from reticent.torch.sampling import Batch  # noqa: E402
from test_torch_engine import clipped_loop, data, network, present_sum, private, step  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402


def loss_of(model, batch):
    return nn.functional.cross_entropy(model(batch[0]), batch[1])


# Loops.


def test_two_loops_over_a_loader_do_not_mix():
    _, model, optimizer, loader = private(epochs=50)
    with pytest.raises(RequestError, match="another loop"):
        next(zip(loader, loader, strict=False))
    first = iter(loader)
    step(model, optimizer, next(first))
    second = iter(loader)
    step(model, optimizer, next(second))
    with pytest.raises(RequestError, match="ended this one"):
        next(first)


def test_a_loop_that_was_left_may_begin_again():
    engine, model, optimizer, loader = private(epochs=50)
    for batch in loader:
        loss_of(model, batch)
        break
    open_loop = iter(loader)
    next(open_loop)
    with pytest.raises(RequestError, match="dropped now"):
        next(iter(loader))
    for batch in loader:
        step(model, optimizer, batch)
    assert engine.steps == 3


def test_reading_ahead_is_refused():
    units = np.arange(60) // 3
    engine, model, optimizer, loader = private(epochs=50, units=units, batch_size=5)
    batches = iter(loader)
    next(batches)
    with pytest.raises(RequestError, match="before the next one is taken"):
        model(next(batches)[0])
    _, model, optimizer, loader = private(epochs=50, batch_size=60, dataset=data(60))
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=16) as parts:
        batches = iter(parts)
        early = next(batches)
        next(batches)
        with pytest.raises(RequestError, match="before the next one is taken"):
            model(early[0])


def test_graphs_of_earlier_batches_are_refused():
    engine, model, optimizer, loader = private(epochs=5, dataset=data(6), batch_size=6)
    kept = loss_of(model, next(iter(loader)))
    other = next(iter(loader))
    with pytest.raises(RequestError, match="earlier batch"):
        (kept + loss_of(model, other)).backward()
    assert float(present_sum(engine).abs().sum()) == 0
    kept = loss_of(model, next(iter(loader)))
    next(iter(loader))
    with pytest.raises(RequestError, match="earlier batch"):
        kept.backward()


def test_inputs_must_be_the_batch():
    _, model, _, loader = private(check=False)
    x, _ = next(iter(loader))
    with pytest.raises(RequestError, match="the loader gave"):
        model(torch.cat([x, x]))


# Gradients.


def test_no_gradient_is_seen_before_the_noise():
    engine, model, optimizer, loader = private(epochs=50)
    other = torch.optim.SGD(model.parameters(), lr=1.0)
    before = model[0].weight.clone()
    loss_of(model, next(iter(loader))).backward()
    assert all(own.grad is None for own in model.parameters())
    other.step()
    assert torch.equal(before, model[0].weight) and engine.state_dict()["counted"] == 0


def test_weights_outside_the_module_are_not_trained_without_noise():
    engine, model, optimizer, loader = private(epochs=50)
    outside = nn.Parameter(torch.zeros(2))
    other = torch.optim.SGD([outside], lr=1.0)
    x, y = next(iter(loader))
    with pytest.raises(RequestError, match="not the private module's"):
        nn.functional.cross_entropy(model(x) + outside, y).backward()
    # Weights that get no gradient of this loss may be trained by themselves.
    x, y = next(iter(loader))
    (nn.functional.cross_entropy(model(x), y) + (outside.detach() ** 2).sum()).backward()
    optimizer.step()
    del other


def test_optimizers_are_known_from_their_first_step_on():
    engine, model, optimizer, loader = private(epochs=50)
    batches = iter(loader)
    step(model, optimizer, next(batches))
    outside = nn.Parameter(torch.zeros(2))
    other = torch.optim.SGD([outside], lr=1.0)
    outside.sum().backward()
    other.step()
    known = engine.run.outsiders.optimizers
    assert other in known and optimizer in known
    # Passes between those that look for optimizers in all of memory.
    engine.run.outsiders.passes = 20
    x, y = next(batches)
    with pytest.raises(RequestError, match="not the private module's"):
        nn.functional.cross_entropy(model(x) + outside, y).backward()


@pytest.mark.parametrize("before", [1, 3, 5, 8])
def test_optimizers_that_are_made_late_move_nothing(before):
    engine, model, optimizer, loader = private(epochs=50)
    batches = (batch for _ in range(50) for batch in loader)
    for _ in range(before):
        step(model, optimizer, next(batches))
    head = nn.Linear(2, 2)
    start = copy.deepcopy(head.state_dict())
    other = torch.optim.SGD(head.parameters(), lr=1.0)
    x, y = next(batches)
    with pytest.raises(RequestError, match="not the private module's"):
        nn.functional.cross_entropy(head(model(x)), y).backward()
    other.zero_grad()
    other.step()
    assert all(torch.equal(own, start[name]) for name, own in head.state_dict().items())


class Rooted(nn.Module):
    """The gradient of a root at 0 is not a number, and one of a weight that is used outside its layer is not seen."""

    def __init__(self, has_root):
        super().__init__()
        self.one, self.two, self.has_root = nn.Linear(5, 2), nn.Linear(5, 1), has_root
        nn.init.constant_(self.two.bias, -100.0)

    def forward(self, x):
        found = self.one(x) + x @ self.one.weight.t()
        less = self.two(x)
        return found + torch.sqrt(less * (less > 0)) if self.has_root else found


@pytest.mark.parametrize("has_root", [False, True])
def test_gradients_that_are_not_finite_do_not_pass_the_check(has_root):
    _, model, _, loader = private(Rooted(has_root))
    x, _ = next(iter(loader))
    with pytest.raises(DataError, match="not finite" if has_root else "not seen"):
        model(x)


def wrapped(model):
    model[0] = nn.Sequential(model[0], nn.BatchNorm1d(8, affine=False, track_running_stats=False))


def replaced(model):
    other = nn.Linear(8, 2)
    other.weight, other.bias = model[3].weight, model[3].bias
    model[3] = other


def renamed(model):
    layer = model[0]
    bias, weight = layer._parameters.pop("bias"), layer._parameters.pop("weight")
    layer.weight_orig, layer.bias = weight, bias
    layer.weight = weight.detach() * 1.0


def appended(model):
    model.append(nn.Softmax(1))


@pytest.mark.parametrize("change", [wrapped, replaced, renamed, appended])
def test_layers_that_change_after_make_private_are_noticed(change):
    """Although the parameters stay the same, in the same order."""
    _, model, optimizer, loader = private(epochs=50)
    batches = iter(loader)
    step(model, optimizer, next(batches))
    parameters = list(model.parameters())
    change(model)
    assert all(one is other for one, other in zip(parameters, model.parameters(), strict=True))
    with pytest.raises(RequestError, match="layers or parameters changed"):
        step(model, optimizer, next(batches))


def test_a_sum_that_failed_is_not_stepped_with():
    engine, model, optimizer, loader = private(epochs=50)
    batches = iter(loader)
    step(model, optimizer, next(batches))
    factors = engine.run.clipping.row_factors
    object.__setattr__(engine.run.clipping, "row_factors", lambda *_: 1 / 0)
    batch = next(batches)
    with pytest.raises(ZeroDivisionError):
        loss_of(model, batch).backward()
    object.__setattr__(engine.run.clipping, "row_factors", factors)
    with pytest.raises(RequestError, match="no gradients of this batch"):
        optimizer.step()
    assert engine.run.sum._sum is None and engine.steps == 1


def test_criterions_with_weights_are_refused():
    class Scaled(nn.CrossEntropyLoss):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(()))

    with pytest.raises(RequestError, match="weights of its own"):
        private(criterion=Scaled())


def test_layers_that_are_unfrozen_later_are_refused():
    model = network()
    model[0].requires_grad_(False)
    _, _, _, loader = private(model, optimizer=torch.optim.SGD(model[3].parameters(), lr=0.1))
    model[0].requires_grad_(True)
    with pytest.raises(RequestError, match="trained without noise"):
        model(next(iter(loader))[0])


def test_an_interrupted_step_counts_and_shows_nothing():
    engine, model, optimizer, loader = private(epochs=50)
    batches = iter(loader)
    loss_of(model, next(batches)).backward()
    shown = engine.run.sum.shown

    def interrupted():
        raise KeyboardInterrupt

    engine.run.sum.shown = interrupted
    with pytest.raises(KeyboardInterrupt):
        optimizer.step()
    engine.run.sum.shown = shown
    assert engine.steps == 1 and all(own.grad is None for own in model.parameters())
    with pytest.raises(RequestError, match="no gradients"):
        optimizer.step()
    next(batches)
    assert float(present_sum(engine).abs().sum()) == 0


# Copies.


def test_one_engine_trains_a_module():
    engine, model, optimizer, _ = private(epochs=50)
    for own in model.parameters():
        own.requires_grad_(True)
    with pytest.raises(RequestError, match="detach"):
        private(model)
    for own in model.parameters():
        own.requires_grad_(False)
    engine.detach()
    private(model)


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.memory = nn.MultiheadAttention(4, 2, batch_first=True), nn.LSTM(4, 4, batch_first=True)
        self.out, self.scale = nn.Linear(4, 2), nn.Parameter(torch.ones(()))

    def forward(self, x):
        values = x[:, :4].unsqueeze(1) * self.scale
        return self.out(self.memory(self.attention(values, values, values)[0])[0][:, -1])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda own: torch.load(_saved(own), weights_only=False)])
def test_copies_of_a_module_are_ordinary(copied):
    torch.manual_seed(1)
    model = Attending()
    engine, _, optimizer, loader = private(model)
    x, y = next(iter(loader))
    other = copied(model)
    with torch.no_grad():
        for own in other.parameters():
            own.zero_()
        # A copy computes with its own weights.
        assert float(other(x).abs().sum()) == 0
    other.requires_grad_(True)
    nn.functional.cross_entropy(other(x), y).backward()
    assert other.out.bias.grad is not None and float(present_sum(engine).abs().sum()) == 0 and not engine.run.is_collected
    step(model, optimizer, (x, y))
    assert engine.steps == 1


def _saved(model):
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    return file


def test_engines_and_loaders_are_not_copied():
    engine, _, optimizer, loader = private()
    for own in (engine, loader):
        for copied in (copy.deepcopy, pickle.dumps):
            with pytest.raises((ReticentError, TypeError)):
                copied(own)
    # A copied optimizer has copied weights, which have no gradients.
    copy.deepcopy(optimizer).step()
    assert engine.steps == 0


def test_a_forked_process_takes_no_step():
    engine, model, optimizer, loader = private(epochs=50)
    loss_of(model, next(iter(loader))).backward()
    child = os.fork()
    if child == 0:
        try:
            optimizer.step()
        except RequestError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    optimizer.step()


def test_compiled_modules_are_refused():
    compiled = torch.compile(network(), backend="eager")
    with pytest.raises(InvalidValueError, match="compiled"):
        private(compiled)
    model = network()
    model.compile(backend="eager")
    with pytest.raises(InvalidValueError, match="compiled"):
        private(model)
    _, model, _, loader = private()
    with pytest.raises(RequestError, match="torch.compile"):
        torch.compile(model, backend="eager")(next(iter(loader))[0])


# What modules keep.


class Carrying(nn.Module):
    """Computes with the mean of the inputs before."""

    def __init__(self):
        super().__init__()
        self.layer, self.seen = nn.Linear(5, 2), torch.zeros(5)

    def forward(self, x):
        output = self.layer(x - self.seen)
        self.seen = x.detach().mean(0)
        return output


class Writing(nn.Module):
    """Writes the mean of its inputs into a parameter that is not trained."""

    def __init__(self):
        super().__init__()
        self.layer, self.kept = nn.Linear(5, 2), nn.Parameter(torch.zeros(5), requires_grad=False)

    def forward(self, x):
        self.kept.data.copy_(x.mean(0))
        return self.layer(x)


def test_what_a_module_keeps_of_its_inputs_is_refused():
    for model, error, text in ((Carrying(), RequestError, "earlier calls"), (Writing(), DataError, "kept")):
        _, _, _, loader = private(model)
        with pytest.raises(error, match=text):
            model(next(iter(loader))[0])
    model = Carrying()
    _, _, _, loader = private(model)
    with pytest.raises(RequestError):
        model(next(iter(loader))[0])
    assert float(model.seen.abs().sum()) == 0


def mixed(rows):
    """A collate function that mixes every example with the next one."""
    x, y = torch.stack([row[0] for row in rows]), torch.stack([row[1] for row in rows])
    return 0.7 * x + 0.3 * x.roll(1, 0), y


def ordered(rows):
    """A collate function that orders examples."""
    rows = sorted(rows, key=lambda row: float(row[0][0]))
    return torch.stack([row[0] for row in rows]), torch.stack([row[1] for row in rows])


def test_collate_functions_that_mix_or_reorder_are_refused():
    with pytest.raises(RequestError, match="mixup"):
        private(loader=DataLoader(data(), batch_size=20, collate_fn=mixed))
    private(loader=DataLoader(data(), batch_size=20, collate_fn=ordered))
    with pytest.raises(RequestError, match="order"):
        private(loader=DataLoader(data(), batch_size=5, collate_fn=ordered), units=np.arange(60) // 3)


# Unusual modules and numbers.


class Recomputed(nn.Module):
    """A part is computed again in the backward pass."""

    def __init__(self, is_reentrant=False):
        super().__init__()
        self.first, self.middle, self.last = nn.Linear(5, 8), nn.Sequential(nn.Linear(8, 8), nn.Tanh()), nn.Linear(8, 2)
        self.is_reentrant = is_reentrant

    def forward(self, x):
        return self.last(checkpoint(self.middle, self.first(x), use_reentrant=self.is_reentrant))


def normed(function):
    return lambda: nn.Sequential(function(nn.Linear(5, 8)), nn.ReLU(), nn.Linear(8, 2))


@pytest.mark.parametrize("make", [
    Recomputed, normed(nn.utils.parametrizations.weight_norm), normed(nn.utils.parametrizations.orthogonal),
])  # fmt: skip
def test_parts_that_are_recomputed_count_once(make):
    torch.manual_seed(1)
    model = make()
    engine, _, _, loader = private(model)
    next(iter(loader))
    x, y = data()[:7]
    engine.run.announce(Batch(7, None, 7, False, True, True))
    nn.functional.cross_entropy(model(x), y).backward()
    found = present_sum(engine)
    engine.detach()
    assert torch.allclose(found, clipped_loop(model, x, y, 1.0), atol=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Recomputed(is_reentrant=True), normed(nn.utils.parametrizations.spectral_norm), normed(nn.utils.spectral_norm),
        normed(nn.utils.weight_norm), lambda: network().to(torch.complex64),
    ],
)  # fmt: skip
def test_modules_whose_gradients_are_not_seen_are_refused(make):
    with pytest.raises(ReticentError):
        _, model, _, loader = private(make())
        model(next(iter(loader))[0])


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_sums_of_low_precision_are_bounded(kind):
    """Each example adds at most the clipping norm, whatever the precision of the weights."""
    x, y = data()[:]
    model = network().to(kind)
    engine, _, optimizer, loader = private(model, TensorDataset(1000 * x.to(kind), y))
    x, y = next(iter(loader))
    engine.run.announce(None)
    engine.run.announce(Batch(1, None, 1, False, True, True))
    nn.functional.cross_entropy(model(x[:1]).float(), y[:1]).backward()
    assert present_sum(engine).dtype == torch.float32 and float(present_sum(engine).norm()) <= 1.0


def test_gradients_of_gradients_are_refused():
    _, model, _, loader = private()
    x, y = next(iter(loader))
    x = x.clone().requires_grad_(True)
    output = model(x)
    (slope,) = torch.autograd.grad(output.sum(), x, create_graph=True)
    with pytest.raises(RequestError, match="twice"):
        (nn.functional.cross_entropy(output, y) + slope.square().sum(1).mean()).backward()


class Unlike(torch.optim.Optimizer):
    """An optimizer that does not call the methods of its class when it is made."""

    def __init__(self, parameters):
        self.defaults, self.state = {}, {}
        self.param_groups = [{"params": list(parameters)}]

    def step(self):
        pass


def test_optimizers_that_are_made_in_their_own_way_are_found():
    model, outside = nn.Linear(5, 3), nn.Linear(3, 3)
    engine, model, optimizer, loader = private(model, epochs=50, batch_size=60, dataset=data(60))
    kept, passes = [], 0
    with pytest.raises(RequestError, match="not the private module's"):
        for x, y in (batch for _ in range(20) for batch in loader):
            nn.functional.cross_entropy(outside(model(x)), y).backward()
            optimizer.step()
            passes += 1
            kept = kept or [Unlike(outside.parameters())]
    assert 0 < passes < 16


def test_modules_with_scripted_parts():
    model = nn.Sequential(torch.jit.script(nn.Linear(5, 4).requires_grad_(False)), nn.Tanh(), nn.Linear(4, 3))
    optimizer = torch.optim.SGD(model[2].parameters(), lr=0.1)
    engine, model, optimizer, loader = private(model, optimizer=optimizer)
    batch = next(iter(loader))
    loss_of(model, batch[:2]).backward()
    optimizer.step()
    model.append(nn.Identity())
    with pytest.raises(RequestError, match="changed after make_private"):
        loss_of(model, next(iter(loader))[:2])
