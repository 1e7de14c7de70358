"""The ways of a GPU, tested on a CPU: what is asked of the kernels, and what becomes of their answers."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

from reticent.errors import RequestError  # noqa: E402
from reticent.torch import gpu as module  # noqa: E402
from reticent.torch.sampling import Batch  # noqa: E402
from test_torch_engine import clipped_loop, data, network, present_sum, private  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import TensorDataset  # noqa: E402
from torch_stand_in import stand_in  # noqa: E402

ROWS = 7


class Text(nn.Module):
    """Tables, attention, norms and a recurrent layer."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(20, 12), nn.Embedding(6, 12)
        self.first = nn.Embedding(3, 12)
        self.block = nn.TransformerEncoderLayer(12, 2, 16, dropout=0.0, batch_first=True)
        self.norm = nn.RMSNorm(12)
        self.memory = nn.GRU(12, 5, batch_first=True)
        self.head = nn.Linear(5, 2)

    def forward(self, x):
        place = torch.arange(x.shape[1]).repeat(x.shape[0], 1)
        found = self.words(x) + self.places(place) + self.first(x[:, 0] % 3)[:, None]
        return self.head(self.memory(self.norm(self.block(found)))[0][:, -1])


NETWORKS = {
    "images": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 6, (2, 3), (1, 2), (1, 2), (2, 1)), nn.ReLU(), nn.Conv2d(6, 64, 3, padding=1), nn.ReLU(),
            nn.Conv2d(64, 64, 3, padding=1, padding_mode="circular"), nn.GroupNorm(4, 64), nn.ReLU(), nn.InstanceNorm2d(64, affine=True),
            nn.Conv2d(64, 40, 3, stride=2, groups=2), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(160, 8), nn.Tanh(),
            nn.Linear(8, 2),
        ),
        lambda rows: torch.randn(rows, 2, 9, 9),
        {"convolved", "channels", "outer", "kept", "places", "sums", "products"},
    ),
    "texts": (Text, lambda rows: torch.randint(0, 20, (rows, 6)), {"sites", "outer", "kept", "places", "table", "sums", "products"}),
}  # fmt: skip


def made(name):
    torch.manual_seed(1)
    make, draw, kinds = NETWORKS[name]
    return make(), draw, kinds


def is_near(found, expected):
    """Norms from products of positions are a bit too long, and what is clipped to them a bit too short."""
    return float((found - expected).norm()) <= 3e-3 * float(expected.norm())


def summed(engine, model, x, y, unit=None):
    units = len(x) if unit is None else int(unit.max()) + 1
    engine.run.announce(Batch(len(x), unit, units, False, True, True))
    nn.functional.cross_entropy(model(x), y).backward()
    return present_sum(engine)


@pytest.mark.parametrize("name", list(NETWORKS))
def test_sums_are_those_of_loops(name, monkeypatch):
    native = stand_in(monkeypatch)
    model, draw, kinds = made(name)
    other = copy.deepcopy(model)
    x, y = draw(ROWS), torch.arange(ROWS) % 2
    engine, _, _, _ = private(model, TensorDataset(draw(60), torch.zeros(60).long()), max_grad_norm=0.3)
    assert is_near(summed(engine, model, x, y), clipped_loop(other, x, y, 0.3))
    assert kinds | {"clip"} <= native.seen


@pytest.mark.parametrize("name", list(NETWORKS))
@pytest.mark.parametrize("options", [{"clipping": "per_layer"}, {"clipping": "automatic"}, {"units": True}])
def test_other_rules_are_those_of_a_cpu(name, options, monkeypatch):
    model, draw, _ = made(name)
    dataset = TensorDataset(draw(60), torch.zeros(60).long())
    x, y, unit = draw(ROWS), torch.arange(ROWS) % 2, None
    if "units" in options:
        unit, options = torch.tensor([0, 0, 1, 2, 2, 2, 3]), {"units": list(range(60))}
    found = []
    for own, is_gpu in ((model, False), (copy.deepcopy(model), True)):
        native = stand_in(monkeypatch) if is_gpu else None
        engine, _, _, _ = private(own, dataset, max_grad_norm=0.3, **options)
        found.append(summed(engine, own, x, y, unit))
        assert native is None or "clip" not in native.seen
    assert is_near(*found)


@pytest.mark.parametrize("most", [0, 1 << 30])
def test_products_may_be_let_go_at_any_time(most, monkeypatch):
    """Products of positions are measured one by one, or all in the end."""
    native = stand_in(monkeypatch)
    monkeypatch.setattr(module, "WAITING", most)
    model, draw, _ = made("texts")
    other = copy.deepcopy(model)
    x, y = draw(ROWS), torch.arange(ROWS) % 2
    engine, _, _, _ = private(model, TensorDataset(draw(60), torch.zeros(60).long()), max_grad_norm=0.3)
    assert is_near(summed(engine, model, x, y), clipped_loop(other, x, y, 0.3))
    assert ("totals" in native.seen) == (most == 0)


def test_long_gradients_are_measured_in_pieces(monkeypatch):
    stand_in(monkeypatch)
    monkeypatch.setattr(module, "LONG", 100)
    model, draw, _ = made("images")
    other = copy.deepcopy(model)
    x, y = draw(ROWS), torch.arange(ROWS) % 2
    engine, _, _, _ = private(model, TensorDataset(draw(60), torch.zeros(60).long()), max_grad_norm=0.3)
    assert is_near(summed(engine, model, x, y), clipped_loop(other, x, y, 0.3))


def test_an_example_that_is_not_finite_counts_as_0(monkeypatch):
    stand_in(monkeypatch)
    model, draw, _ = made("images")
    other = copy.deepcopy(model)
    x, y = draw(ROWS), torch.arange(ROWS) % 2
    x[3] = float("nan")
    good = [0, 1, 2, 4, 5, 6]
    engine, _, _, _ = private(model, TensorDataset(draw(60), torch.zeros(60).long()), max_grad_norm=0.3)
    assert is_near(summed(engine, model, x, y), clipped_loop(other, x[good], y[good], 0.3))


def test_parts_of_a_step_are_added_up(monkeypatch):
    stand_in(monkeypatch)
    model, draw, _ = made("images")
    other = copy.deepcopy(model)
    x, y = draw(8), torch.arange(8) % 2
    dataset = TensorDataset(draw(60), torch.zeros(60).long())
    engine, _, _, _ = private(model, dataset, max_grad_norm=0.3, loss_reduction="sum")
    x[1], x[6] = float("nan"), float("inf")
    for rows in (slice(0, 4), slice(4, 8)):
        engine.run.announce(Batch(4, None, 8, False, rows.start == 0, rows.stop == 8))
        nn.functional.cross_entropy(model(x[rows]), y[rows], reduction="sum").backward()
    good = [0, 2, 3, 4, 5, 7]
    assert is_near(present_sum(engine), clipped_loop(other, x[good], y[good], 0.3))


def test_double_precision_does_without(monkeypatch):
    native = stand_in(monkeypatch)
    model, draw, _ = made("images")
    other = copy.deepcopy(model).double()
    x, y = draw(ROWS).double(), torch.arange(ROWS) % 2
    model = model.double()
    engine, _, _, _ = private(model, TensorDataset(draw(60).double(), torch.zeros(60).long()), max_grad_norm=0.3)
    assert torch.allclose(summed(engine, model, x, y), clipped_loop(other, x, y, 0.3), atol=1e-9)
    assert not native.seen


def test_a_weight_that_is_left_out_is_noticed(monkeypatch):
    """A twin that does not measure what is kept lets gradients be longer than the norm."""
    model, draw, _ = made("images")
    x, y = draw(ROWS), torch.arange(ROWS) % 2
    stand_in(monkeypatch)
    for name in ("kept", "written_out"):
        monkeypatch.setattr(module.Jobs, name, lambda self, gradients: None)
    engine, _, _, _ = private(model, TensorDataset(draw(60), torch.zeros(60).long()), max_grad_norm=0.3)
    longest = max(float(summed(engine, model, x[row : row + 1], y[row : row + 1]).norm()) for row in range(ROWS))
    assert longest > 0.31


def waiting(monkeypatch):
    """Gradients wait for the step, as those on a GPU do."""
    from reticent.torch import run

    monkeypatch.setattr(run, "is_launched", lambda device: True)


def test_gradients_that_wait_are_in_the_step(monkeypatch):
    """Parts of a step, of which the last is added when the step is taken."""
    waiting(monkeypatch)
    torch.manual_seed(1)
    model = nn.Linear(6, 2)
    other = copy.deepcopy(model)
    dataset = TensorDataset(torch.randn(60, 6), torch.zeros(60).long())
    engine, _, optimizer, _ = private(model, dataset, max_grad_norm=0.3, loss_reduction="sum")
    x, y = torch.randn(8, 6), torch.arange(8) % 2
    run = engine.own_run
    run.own_steps.sample()
    for rows in (slice(0, 4), slice(4, 8)):
        run.announce(Batch(4, None, 8, False, rows.start == 0, rows.stop == 8))
        nn.functional.cross_entropy(model(x[rows]), y[rows], reduction="sum").backward()
        assert run.sum.is_empty == (rows.start == 0)
        if rows.start == 0:
            optimizer.step()
            assert not run.sum.is_empty
    # What a step does before it adds noise.
    run._check_ready(optimizer)
    assert is_near(present_sum(engine), clipped_loop(other, x, y, 0.3))


def test_gradients_that_wait_for_a_step_that_is_left_out_are_dropped(monkeypatch):
    waiting(monkeypatch)
    model = network()
    other = copy.deepcopy(model)
    engine, model, optimizer, _ = private(model)
    x, y = data()[:4]
    for _ in range(2):
        engine.own_run.own_steps.sample()
        engine.own_run.announce(Batch(4, None, 4, False, True, True))
        nn.functional.cross_entropy(model(x), y).backward()
    with pytest.raises(RequestError, match="twice"):
        nn.functional.cross_entropy(model(x), y).backward()
    engine.own_run.settle()
    assert torch.allclose(present_sum(engine), clipped_loop(other, x, y, 1.0), atol=1e-5)


@pytest.mark.parametrize("waits", [True, False])
def test_inputs_that_are_changed_in_place_are_refused(waits, monkeypatch):
    if waits:
        waiting(monkeypatch)
    engine, model, optimizer, _ = private()
    x, y = data()[:4]
    engine.own_run.own_steps.sample()
    engine.own_run.announce(Batch(4, None, 4, False, True, True))
    loss = nn.functional.cross_entropy(model(x), y)
    with pytest.raises(RequestError, match="changed in place"):
        if waits:
            loss.backward()
        x.copy_(torch.randn(x.shape))
        if not waits:
            loss.backward()
        optimizer.step()
    assert engine.own_run.sum.is_empty and engine.own_run._count()[0] == 0


def test_inputs_may_be_changed_in_place_where_gradients_do_not_need_them():
    """Biases alone, and inputs from inference mode."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3))
    for own in (model[0].weight, model[2].weight):
        own.requires_grad_(False)
    optimizer = torch.optim.SGD([model[0].bias, model[2].bias], lr=0.1)
    engine, model, _, _ = private(model, optimizer=optimizer)
    x, y = data()[:4]
    for change in (True, False):
        engine.own_run.own_steps.sample()
        engine.own_run.announce(Batch(4, None, 4, False, True, True))
        with torch.inference_mode(not change):
            given = x.clone()
        loss = nn.functional.cross_entropy(model(given), y)
        if change:
            given.zero_()
        loss.backward()
        assert not engine.own_run.sum.is_empty
