"""The engine: sums, samples, refusals, counts."""

from __future__ import annotations

import json
import math
import warnings
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import reticent  # noqa: E402
from reticent.errors import BudgetError, DataError, InvalidValueError, RequestError  # noqa: E402
from reticent.torch import BatchMemoryManager, PrivacyEngine, fit, fix, problems  # noqa: E402
from reticent.torch.clipping import Clipping  # noqa: E402
from reticent.torch.sampling import Batch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, WeightedRandomSampler  # noqa: E402


def data(count=60, width=5):
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(count, width, generator=generator)
    return TensorDataset(x, (x[:, 0] > 0).long())


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 8), nn.ReLU(inplace=True), nn.LayerNorm(8), nn.Linear(8, 2))


def private(model=None, dataset=None, batch_size=20, optimizer=None, loader=None, engine=None, **options):
    model = network() if model is None else model
    engine = engine or PrivacyEngine()
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    if loader is None:
        loader = DataLoader(dataset or data(), batch_size=batch_size, shuffle=True)
    given = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "epochs": 2, **options}
    made = engine.make_private(module=model, optimizer=optimizer, data_loader=loader, **given)
    return (engine, *made)


def step(model, optimizer, batch):
    x, y = batch
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()


def clipped_loop(model, x, y, norm, unit=None):
    """The clipped sum by autograd, one example after the other."""
    total = None
    rows = []
    for row in range(len(x)):
        loss = nn.functional.cross_entropy(model(x[row : row + 1]), y[row : row + 1])
        rows.append(torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))]))
    lengths = torch.stack([own.norm() for own in rows])
    unit = torch.arange(len(x)) if unit is None else unit
    bound = norm * (1 - 1 / 4096)
    for row, own in enumerate(rows):
        if not math.isfinite(float(lengths[row])):
            continue
        together = lengths[unit == unit[row]].sum()
        own = own * min(1.0, float(bound / together))
        total = own if total is None else total + own
    return total


def present_sum(engine):
    return engine.run.sum.total().clone()


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_sum_is_that_of_clipped_gradients(reduction):
    model = network()
    engine, _, _, _ = private(model, loss_reduction=reduction)
    other = network()
    x, y = data()[:7]
    engine.run.announce(Batch(7, None, 7, False, True, True))
    nn.functional.cross_entropy(model(x), y, reduction=reduction).backward()
    expected = clipped_loop(other, x, y, 1.0)
    assert torch.allclose(present_sum(engine), expected, atol=1e-5)


@pytest.mark.parametrize("channels, size", [(64, 4), (64, 8), (352, 4)])
def test_sums_of_convolutions_keep_their_digits(channels, size):
    """One of many equal examples is not counted beyond its bound: products are added up example by example, or few at a time."""
    pictures = TensorDataset(torch.ones(20, channels, size, size))
    model = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, bias=False))
    engine, _, _, _ = private(model, pictures, loss_reduction="sum", check=False)

    def total(rows):
        engine.run.announce(Batch(rows, None, rows, False, True, True))
        model(torch.ones(rows, channels, size, size)).sum().backward()
        return engine.run.sum.total().double().clone()

    for rows in (93, 80, 17):
        assert float((total(rows) - total(rows - 1)).norm()) <= 1


def test_units_share_their_bound():
    model = network()
    units = np.arange(60) // 3
    engine, _, _, loader = private(model, units=units, batch_size=5, unit="user")
    other = network()
    x, y = data()[:6]
    unit = torch.tensor([0, 0, 0, 1, 1, 2])
    engine.run.announce(Batch(6, unit, 3, False, True, True))
    nn.functional.cross_entropy(model(x), y).backward()
    assert torch.allclose(present_sum(engine), clipped_loop(other, x, y, 1.0, unit), atol=1e-5)
    assert engine.certificate()._data["unit"] == "user"
    assert engine.run.standing()["expected_batch"] == 5
    seen = [int(batch.rows) for _ in loader for batch in [engine.run.batch] if not batch.is_blank]
    assert all(rows % 3 == 0 for rows in seen)


def test_an_example_that_is_not_finite_counts_for_nothing():
    model = network()
    engine, _, _, _ = private(model, check=False)
    other = network()
    x, y = data()[:7]
    x = x.clone()
    x[2] = float("nan")
    x[4, 1] = float("inf")
    engine.run.announce(Batch(7, None, 7, False, True, True))
    nn.functional.cross_entropy(model(x), y).backward()
    good = [0, 1, 3, 5, 6]
    expected = clipped_loop(other, x[good], y[good], 1.0)
    assert torch.allclose(present_sum(engine), expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["flat", "per_layer", "automatic"])
def test_factors_are_those_of_the_library(kind):
    engine, _, _, _ = private(clipping=kind, max_grad_norm=0.7)
    squared = torch.tensor([[0.0, 0.0, 0.0], [1e-12, 4.0, 1e20], [0.01, 0.02, 0.03], [float("nan"), 1.0, 1.0],
                            [float("inf"), 1.0, 1.0], [1e70, 1.0, 0.0], [-1e-9, 1.0, 1.0], [5.0, 6.0, 7.0], [0.5, 0.3, 0.1]],
                           dtype=torch.float64)  # fmt: skip
    own = Clipping.of(kind, 0.7).factors(squared)
    native = engine.run.steps.factors(3, squared.reshape(-1).numpy()).reshape(-1, 3)
    assert np.allclose(own.numpy(), native, rtol=1e-6, atol=0)
    if kind == "flat":
        whole = torch.cat([squared.sum(1), torch.tensor([-1e-9])]).unsqueeze(1)
        native_of_whole = engine.run.steps.factors(1, whole.reshape(-1).numpy()).reshape(-1, 1)
        assert np.allclose(Clipping.of(kind, 0.7).factors(whole).numpy(), native_of_whole, rtol=1e-6, atol=0)
    # Gradients that are 8 times what was measured.
    scaled = Clipping.of(kind, 0.7).factors(squared / 64, 8.0)
    assert torch.allclose(scaled, 8 * own, rtol=1e-12, atol=0)


def test_parts_of_a_step_add_up_to_it():
    model = network()
    engine, _, optimizer, loader = private(model, batch_size=60, epochs=4)
    other = network()
    before = [own.clone() for own in model.parameters()]
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=16, optimizer=optimizer) as parts:
        sizes = []
        for x, y in parts:
            batch = engine.run.batch
            sizes.append(len(x))
            nn.functional.cross_entropy(model(x), y).backward()
            if batch.is_last:
                break
            optimizer.step()
            assert all(own.grad is None for own in model.parameters())
    assert sizes == [16, 16, 16, 12] and engine.steps == 0
    assert all(torch.equal(one, two) for one, two in zip(before, model.parameters(), strict=True))
    x, y = data()[:]
    assert torch.allclose(present_sum(engine), clipped_loop(other, x, y, 1.0), atol=1e-4)
    optimizer.step()
    assert engine.steps == 1 and next(iter(model.parameters())).grad is not None


def test_noise_has_the_spread_of_the_plan_and_the_divisor_is_public():
    model = nn.Linear(400, 250, bias=False)
    dataset = TensorDataset(torch.zeros(40, 400), torch.zeros(40, 250))
    engine, _, optimizer, loader = private(model, dataset, batch_size=8, max_grad_norm=0.5, noise_multiplier=3.0)
    for x, y in loader:
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        noise = model.weight.grad * engine.run.standing()["expected_batch"]
        deviation = float(noise.std())
        # 100 000 numbers: the standard error is 0.0034.
        assert abs(deviation / 1.5 - 1) < 0.02, deviation
        assert abs(float(noise.mean())) < 0.04
    assert engine.run.standing()["expected_batch"] == 8


def test_samples_are_poisson_samples():
    engine, _, _, loader = private(dataset=data(40), batch_size=10, epochs=500, noise_multiplier=20.0)

    def counts(loader):
        found = np.zeros((400, 40))
        for epoch in range(400):
            for x, _ in loader:
                found[epoch] += (x[:, None, :] == data(40)[:][0][None]).all(2).sum(0).numpy()
        return found

    own = counts(loader)
    # How often one example is in the four steps of an epoch: binomial, with mean 1 and variance 0.75.
    assert abs(own.mean() - 1) < 0.06 and abs(own.var() - 0.75) < 0.12
    shuffled = counts(DataLoader(data(40), batch_size=10, shuffle=True))
    assert shuffled.var() == 0


def test_empty_batches_are_steps_of_noise_alone():
    model = network()
    engine, _, optimizer, loader = private(model, data(10), batch_size=1, epochs=6)
    blanks = 0
    for _ in range(6):
        for batch in loader:
            blanks += engine.run.batch.is_blank
            assert len(batch[0]) >= 1
            step(model, optimizer, batch)
    # Each of the 60 steps is empty with probability 0.35.
    assert blanks > 0 and engine.steps == 60


def test_workers_are_kept():
    model = network()
    loader = DataLoader(data(), batch_size=20, num_workers=2)
    engine, _, optimizer, loader = private(model, loader=loader, epochs=1)
    assert loader.num_workers == 2
    for batch in loader:
        assert len(batch[0]) == engine.run.batch.rows
        step(model, optimizer, batch)
    assert engine.steps == 3 and engine.steps_left == 0


def test_a_planned_training_ends_with_its_plan():
    engine, model, optimizer, loader = private(epochs=1)
    for batch in loader:
        step(model, optimizer, batch)
    with pytest.raises(RequestError, match="finished"):
        next(iter(loader))
    whole = engine.certificate()
    assert whole.verify() and whole.epsilon == pytest.approx(engine.get_epsilon())
    assert engine.get_epsilon(1e-7) > engine.get_epsilon(1e-5)


def test_an_early_end_claims_the_whole_plan():
    engine, model, optimizer, loader = private(epochs=5)
    for batch in loader:
        step(model, optimizer, batch)
    chosen, limit = engine.certificate(), engine.certificate(stopped_by="time-limit")
    assert chosen.epsilon > limit.epsilon == pytest.approx(engine.get_epsilon())
    assert any("declared not to depend" in fact for fact in limit._data["public"])


def test_a_training_without_an_end_states_its_premise():
    engine, model, optimizer, loader = private(epochs=None)
    for _ in range(3):
        for batch in loader:
            step(model, optimizer, batch)
    assert engine.steps == 9 and engine.steps_left is None
    assert any("declared not to depend" in fact for fact in engine.certificate()._data["public"])


def test_epsilon_is_that_of_the_accountant():
    engine, model, optimizer, loader = private(epochs=1)
    for batch in loader:
        step(model, optimizer, batch)
    bounds = (reticent.accounting.Gaussian(1.0).poisson(1 / 3) * 3).epsilon(delta=1e-5)
    assert engine.get_epsilon(1e-5) == pytest.approx(bounds.upper, rel=1e-4)


def test_a_budget_is_charged_before_the_first_step():
    engine = PrivacyEngine(budget=reticent.Budget(epsilon=0.5, delta=1e-5, unit="example"))
    with pytest.raises(BudgetError):
        private(engine=engine)
    budget = reticent.Budget(epsilon=20.0, delta=1e-4, unit="example")
    private(engine=PrivacyEngine(budget=budget), noise_multiplier=5.0, epochs=1)
    assert budget.left < 20.0


@pytest.mark.parametrize("optimizer", [torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop])
def test_optimizers_and_schedules_stay(optimizer):
    model = network()
    own = optimizer(model.parameters(), lr=0.01)
    engine, _, same, loader = private(model, optimizer=own)
    assert same is own
    schedule = torch.optim.lr_scheduler.StepLR(own, 1, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for batch in loader:
            step(model, own, batch)
            schedule.step()
    assert own.param_groups[0]["lr"] == pytest.approx(0.01 / 8)


def test_loops_that_the_plan_does_not_count_are_refused():
    engine, model, optimizer, loader = private(epochs=50)
    batches = iter(loader)
    x, y = next(batches)
    with pytest.raises(RequestError, match="no gradients"):
        optimizer.step()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward(retain_graph=True)
    with pytest.raises(RequestError, match="twice"):
        loss.backward()
    optimizer.step()
    with pytest.raises(RequestError, match="no gradients"):
        optimizer.step()
    x, y = next(batches)
    nn.functional.cross_entropy(model(x), y).backward()
    model[0].weight.grad = torch.ones_like(model[0].weight)
    with pytest.raises(RequestError, match="by hand"):
        optimizer.step()
    model[0].weight.grad = None
    model[0].weight.requires_grad_(True)
    with pytest.raises(RequestError, match="requires_grad"):
        optimizer.step()
    model[0].weight.requires_grad_(False)
    optimizer.step()
    next(batches)
    with pytest.raises(RequestError, match="the loader gave"):
        model(torch.randn(1000003, 5))
    model.append(nn.Linear(2, 2))
    with pytest.raises(RequestError, match="changed after"):
        model(x)
    assert engine.steps == 2


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam])
def test_a_closure_is_called_once(optimizer):
    model = network()
    engine, _, own, loader = private(model, optimizer=optimizer(model.parameters(), lr=0.01))
    before = model[0].weight.clone()
    for x, y in loader:
        calls = []

        def closure(x=x, y=y, calls=calls):
            own.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            calls.append(loss)
            return loss

        assert own.step(closure) is calls[0] and len(calls) == 1
    assert engine.steps == 3 and not torch.equal(before, model[0].weight)


def test_a_module_that_is_called_in_parts_is_not_checked_and_refused():
    engine, model, optimizer, loader = private()
    x, y = next(iter(loader))
    with pytest.raises(RequestError, match="a part of it"):
        nn.functional.cross_entropy(model[3](model[2](model[0](x))), y).backward()
    assert float(present_sum(engine).abs().sum()) == 0


def test_raw_sums_are_never_a_gradient():
    """Nor is memory of a gradient summed into later: an optimizer may hold on to it."""
    engine, model, optimizer, loader = private(epochs=50)
    held = []
    for x, y in loader:
        nn.functional.cross_entropy(model(x), y).backward()
        place = engine.run.sum.total().untyped_storage().data_ptr()
        assert place not in {own.untyped_storage().data_ptr() for own in held}
        optimizer.step()
        held += [own.grad for own in model.parameters() if own.grad is not None]
    assert held


def test_gradients_are_let_go_with_the_optimizers():
    """Between steps there is neither a sum nor a gradient in memory."""
    engine, model, optimizer, loader = private()
    x, y = next(iter(loader))
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    whole = model[0].weight.grad._base
    assert whole.numel() == engine.run.sum.length
    held = weakref.ref(whole)
    del whole
    optimizer.zero_grad()
    assert engine.run.sum._sum is None and held() is None


class Stream(IterableDataset):
    def __iter__(self):
        yield torch.zeros(5), 0


def test_loaders_that_cannot_be_sampled_are_refused():
    with pytest.raises(InvalidValueError, match="iterable"):
        private(loader=DataLoader(Stream(), batch_size=2))
    with pytest.raises(InvalidValueError, match="batch_size"):
        private(loader=DataLoader(data(), batch_size=None))
    with pytest.warns(reticent.PrivacyWarning, match="Weighted"):
        private(loader=DataLoader(data(), batch_size=20, sampler=WeightedRandomSampler([1.0] * 60, 60)))


@pytest.mark.parametrize(
    "options, name",
    [
        ({"noise_multiplier": -1.0}, "noise_multiplier"),
        ({"noise_multiplier": float("nan")}, "noise_multiplier"),
        ({"max_grad_norm": 0.0}, "clip"),
        ({"clipping": "adaptive"}, "clipping"),
        ({"loss_reduction": "none"}, "loss_reduction"),
        ({"poisson_sampling": False}, "poisson_sampling"),
        ({"noise_generator": torch.Generator()}, "noise_generator"),
        ({"units": [1, 2]}, "units"),
        ({"steps": 3}, "steps"),
        ({"delta": 2.0}, "delta"),
        ({"neighboring": "zero-out"}, "neighboring"),
    ],
)
def test_settings_without_meaning_are_refused(options, name):
    with pytest.raises(reticent.errors.ReticentError) as refused:
        private(**options)
    assert refused.value.field == name, refused.value


def test_batch_norms_are_named_and_replaced():
    model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    assert [name for name, _ in problems(model)] == ["1"]
    with pytest.raises(DataError, match="BatchNorm1d"):
        private(model)
    fixed = fix(model)
    assert isinstance(fixed[1], nn.GroupNorm) and problems(fixed) == []
    _, _, optimizer, loader = private(fixed)
    step(fixed, optimizer, next(iter(loader)))


def test_a_frozen_batch_norm_must_stay_so():
    model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    model[1].eval()
    _, _, optimizer, loader = private(model)
    batches = iter(loader)
    step(model, optimizer, next(batches))
    model.train()
    x, _ = next(batches)
    with pytest.raises(DataError, match="batch norm"):
        model(x)


class Centered(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 2)

    def forward(self, x):
        return self.layer(x - x.mean(0))


class Borrowed(nn.Module):
    """Uses the weights of a layer without calling it."""

    def __init__(self):
        super().__init__()
        self.layer, self.out = nn.Linear(5, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.out(nn.functional.linear(x, self.layer.weight, self.layer.bias))


def test_the_check_finds_modules_that_mix_or_hide():
    for model, error, text in (
        (Centered(), RequestError, "examples mix"),
        (Borrowed(), DataError, "layer.weight"),
    ):
        engine, _, optimizer, loader = private(model)
        x, _ = next(iter(loader))
        with pytest.raises(error, match=text):
            model(x)
        # The check is done again: nothing is trained behind it.
        with pytest.raises(error, match=text):
            model(x)


class Remembering(nn.Module):
    """Keeps a mean of what it has seen."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 2)
        self.register_buffer("seen", torch.zeros(5))

    def forward(self, x):
        with torch.no_grad():
            self.seen.mul_(0.9).add_(0.1 * x.mean(0))
        return self.layer(x)


def test_buffers_that_depend_on_inputs_are_refused():
    model = Remembering()
    _, _, _, loader = private(model)
    x, _ = next(iter(loader))
    with pytest.raises(DataError, match="seen"):
        model(x)
    assert float(model.seen.abs().sum()) == 0


class Shifted(nn.Module):
    """A parameter and a buffer of the length of the batch."""

    def __init__(self):
        super().__init__()
        self.layer, self.scale = nn.Linear(5, 2), nn.Parameter(torch.tensor(2.0))
        self.register_buffer("table", torch.randn(6, 2))

    def forward(self, x):
        return self.layer(x) + (self.scale * self.table).sum(0)


@pytest.mark.parametrize("check", [True, False])
def test_buffers_are_not_taken_for_batches(check):
    torch.manual_seed(2)
    model = Shifted()
    engine, _, _, loader = private(model, check=check)
    next(iter(loader))
    x, y = data()[:6]
    engine.run.announce(Batch(6, None, 6, False, True, True))
    nn.functional.cross_entropy(model(x), y).backward()
    found = present_sum(engine)
    engine.detach()
    expected = clipped_loop(model, x, y, 1.0)
    # The order of the sum is that of named_parameters, as in the loop.
    assert torch.allclose(found, expected, atol=1e-5)


class TokenMean(nn.Module):
    """A mean over the tokens that are not left out, of the whole batch."""

    ignore_index = -100

    def forward(self, output, target):
        return nn.functional.cross_entropy(output.flatten(0, 1), target.flatten(), ignore_index=-100)


def test_the_check_goes_through_the_criterion():
    x = torch.randint(0, 4, (30, 6))
    dataset = TensorDataset(x, x.flip(1))

    def model():
        return nn.Sequential(nn.Embedding(4, 5), nn.Linear(5, 4))

    engine, own, _, loader = private(model(), dataset, criterion=TokenMean())
    with pytest.raises(RequestError, match="examples mix"):
        own(next(iter(loader))[0])
    engine, own, _, loader = private(criterion=nn.CrossEntropyLoss(), loss_reduction="sum")
    with pytest.raises(RequestError, match="loss_reduction"):
        own(next(iter(loader))[0])
    engine, own, optimizer, loader = private(criterion=nn.CrossEntropyLoss(reduction="sum"), loss_reduction="sum")
    x, y = next(iter(loader))
    nn.CrossEntropyLoss(reduction="sum")(own(x), y).backward()
    optimizer.step()
    assert any("through the criterion" in fact for fact in engine.certificate()._data["public"])


def test_class_weights_mix_examples_and_ignored_targets_are_a_premise():
    dataset = TensorDataset(torch.randn(30, 5), torch.randint(0, 3, (30,)))
    for weight in ([1.0, 1.0, 5.0], [1.0, 9.0, 1.0]):
        criterion = nn.CrossEntropyLoss(weight=torch.tensor(weight))
        _, own, _, loader = private(nn.Linear(5, 3), dataset, criterion=criterion)
        with pytest.raises(RequestError, match="class weights"):
            own(next(iter(loader))[0])
    criterion = nn.CrossEntropyLoss(weight=torch.full((3,), 2.0))
    engine, own, optimizer, loader = private(nn.Linear(5, 3), dataset, criterion=criterion)
    x, y = next(iter(loader))
    criterion(own(x), y).backward()
    optimizer.step()
    assert any("target that the criterion ignores" in fact for fact in engine.certificate()._data["public"])


def test_the_check_leaves_no_trace():
    model = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.5), nn.Linear(8, 2))
    engine, _, optimizer, loader = private(model)
    x, _ = next(iter(loader))
    before = torch.random.get_rng_state()
    engine.run.enter(model, (x,), {})
    assert torch.equal(before, torch.random.get_rng_state())
    assert model.training and engine.run.taps.rows == len(x) and engine.run.is_checked
    assert not any(own.requires_grad for own in model.parameters())


class Sequence(nn.Module):
    """Positions from a table, time in front inside."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(7, 8), nn.Embedding(5, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.memory = nn.LSTM(8, 6)
        self.out = nn.Linear(6, 2)

    def forward(self, x):
        values = self.words(x) + self.places(torch.arange(x.shape[1]))
        values, _ = self.memory(self.encoder(values.transpose(0, 1)))
        return self.out(values[-1])


@pytest.mark.parametrize("rows", [5, 8, 10])
def test_layouts_are_found(rows):
    """Also where time and batch have the same length."""
    dataset = TensorDataset(torch.randint(0, 7, (40, 5)), torch.randint(0, 2, (40,)))
    torch.manual_seed(4)
    model = Sequence()
    engine, _, _, loader = private(model, dataset, batch_size=20)
    next(iter(loader))
    model.train()
    for own in model.modules():
        if isinstance(own, nn.Dropout):
            own.p = 0.0
        if isinstance(own, nn.MultiheadAttention):
            own.dropout = 0.0
    x, y = dataset[:rows]
    engine.run.announce(Batch(rows, None, rows, False, True, True))
    nn.functional.cross_entropy(model(x), y).backward()
    found = present_sum(engine)
    engine.detach()
    assert torch.allclose(found, clipped_loop(model, x, y, 1.0), atol=1e-4)


def test_a_run_goes_on_with_its_count(tmp_path):
    record, kept = tmp_path / "steps.json", tmp_path / "model.pt"
    engine, model, optimizer, loader = private(epochs=4, record=record)
    for batch in loader:
        step(model, optimizer, batch)
    engine.save_checkpoint(kept, module=model, optimizer=optimizer, epoch=1)
    with pytest.raises(reticent.errors.ReticentError, match="another process"):
        private(epochs=4, record=record, resume=True)
    batches = iter(loader)
    step(model, optimizer, next(batches))
    # What a kill leaves: the file as it is.
    counted = json.loads(record.read_text())["counted"]
    assert counted >= 4
    copied = record.read_text()
    del batches, loader, optimizer
    engine.run.taps.remove()
    engine.run.steps = None
    del engine
    import gc

    gc.collect()
    record.write_text(copied)
    engine, model, optimizer, loader = private(epochs=4, record=record, resume=True)
    assert engine.load_checkpoint(kept, module=model, optimizer=optimizer) == {"epoch": 1}
    assert engine.steps == counted
    taken = 0
    while engine.steps_left:
        for batch in loader:
            step(model, optimizer, batch)
            taken += 1
    assert taken == 12 - counted and engine.steps == 12


def test_a_forked_child_does_not_change_the_count(tmp_path):
    import os

    record = tmp_path / "steps.json"
    engine, model, optimizer, loader = private(epochs=4, record=record)
    batches = iter(loader)
    step(model, optimizer, next(batches))
    child = os.fork()
    if child == 0:
        try:
            engine.run.steps.settle()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert json.loads(record.read_text())["counted"] == 2
    engine.run.steps.settle()
    assert json.loads(record.read_text())["counted"] == 1


def test_a_state_belongs_to_its_plan():
    engine, model, optimizer, loader = private(epochs=2)
    step(model, optimizer, next(iter(loader)))
    state = engine.state_dict()
    other, *_ = private(epochs=2)
    other.load_state_dict(state)
    assert other.steps == 1
    other.load_state_dict({**state, "counted": 0})
    assert other.steps == 1
    another, *_ = private(epochs=3)
    with pytest.raises(RequestError, match="begun with"):
        another.load_state_dict(state)


def test_a_training_in_one_call():
    seen = []
    fitted = fit(
        network(), data(200), criterion=nn.CrossEntropyLoss(), epsilon=5, delta=1e-5, epochs=3, batch_size=50,
        max_physical_batch_size=20, after_epoch=lambda epoch, engine: seen.append((epoch, engine.steps)),
    )  # fmt: skip
    assert seen == [(1, 4), (2, 8), (3, 12)]
    assert fitted.certificate.epsilon <= 5 and not fitted.module.training
    assert not any("stopped" in fact for fact in fitted.certificate._data["public"])


def test_detached_modules_are_ordinary_again():
    engine, model, optimizer, loader = private()
    step(model, optimizer, next(iter(loader)))
    engine.detach()
    x, y = data()[:4]
    nn.functional.cross_entropy(model(x), y).backward()
    assert all(own.grad is not None for own in model.parameters())
    before = model[0].weight.clone()
    optimizer.step()
    assert engine.steps == 1 and not torch.equal(before, model[0].weight)
    engine.detach()
    assert engine.certificate().verify()


def test_what_is_refused_can_be_made_private_then():
    dataset = TensorDataset(torch.randn(60, 5))
    model = network()
    with pytest.raises(RequestError, match="no part after the first"):
        private(model, dataset, criterion=nn.CrossEntropyLoss())
    assert all(own.requires_grad for own in model.parameters())
    private(model, dataset)


def test_eval_mode_and_no_grad_are_not_tapped():
    engine, model, _, loader = private()
    x, _ = next(iter(loader))
    model(x)
    with torch.no_grad():
        assert not model(torch.randn(3, 5)).requires_grad
    model.eval()
    assert not model(torch.randn(3, 5)).requires_grad


def test_low_precision_activations():
    model = network()
    engine, _, optimizer, loader = private(model)
    x, y = next(iter(loader))
    with torch.autocast("cpu", torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x).float(), y)
    loss.backward()
    assert torch.isfinite(present_sum(engine)).all()
    optimizer.step()


def test_a_trainer_of_lightning():
    lightning = pytest.importorskip("lightning")

    class Own(lightning.LightningModule):
        def __init__(self, net, optimizer):
            super().__init__()
            self.net, self.own = net, optimizer

        def training_step(self, batch, place):
            return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

        def configure_optimizers(self):
            return self.own

    engine, model, optimizer, loader = private(epochs=2)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    lightning.Trainer(max_epochs=2, accelerator="cpu", **quiet).fit(Own(model, optimizer), loader)
    assert engine.steps == 6 and engine.steps_left == 0
