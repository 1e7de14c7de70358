"""The ways of a GPU, tested on a CPU: what is asked of the kernels, and what becomes of their answers."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

from reticent.torch import gpu as module  # noqa: E402
from reticent.torch.sampling import Batch  # noqa: E402
from test_torch_engine import clipped_loop, present_sum, private  # noqa: E402
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
    monkeypatch.setattr(module.Jobs, "kept", lambda self, gradients: None)
    engine, _, _, _ = private(model, TensorDataset(draw(60), torch.zeros(60).long()), max_grad_norm=0.3)
    longest = max(float(summed(engine, model, x[row : row + 1], y[row : row + 1]).norm()) for row in range(ROWS))
    assert longest > 0.31
