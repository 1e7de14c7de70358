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
    engine, _, _, _ = private(model, TensorDataset(draw(60), torch.zeros(60).long()), max_grad_norm=0.3, check=False)
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
    engine, _, _, _ = private(model, TensorDataset(draw(60), torch.zeros(60).long()), max_grad_norm=0.3, check=False)
    longest = max(float(summed(engine, model, x[row : row + 1], y[row : row + 1]).norm()) for row in range(ROWS))
    assert longest > 0.31


def waiting(monkeypatch, until="backward"):
    """Gradients wait until backward() returns, as those on a GPU do; or, where somebody else replaced that function, for the step."""
    from reticent.torch import run, settling

    monkeypatch.setattr(run, "is_launched", lambda device: True)
    monkeypatch.setattr(torch.autograd, "backward", settling._plain)
    if until == "step":
        monkeypatch.setattr(run, "settle_after_backward", lambda: None)


@pytest.mark.parametrize("until", ["backward", "step"])
def test_gradients_that_wait_are_in_the_step(until, monkeypatch):
    """Parts of a step."""
    waiting(monkeypatch, until)
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
        if rows.start == 0:
            assert run.sum.is_empty == (until == "step")
            optimizer.step()
            assert not run.sum.is_empty
    # What a step does before it adds noise.
    run._check_ready(optimizer)
    assert is_near(present_sum(engine), clipped_loop(other, x, y, 0.3))


class State(nn.Module):
    """A recurrent layer that is given a state."""

    def __init__(self):
        super().__init__()
        self.layer, self.start = nn.LSTM(5, 3, batch_first=True), torch.ones(1, 4, 3)

    def forward(self, x):
        rows = x.shape[0]
        own = self.start if rows == 4 else torch.ones(1, rows, 3)
        return self.layer(x[:, None].expand(-1, 4, -1), (own, torch.ones(1, rows, 3)))[0][:, -1]


class Beside(nn.Module):
    """A layer beside what its input is added to."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 5)

    def forward(self, x):
        return self.layer(x.detach()) + x.view(x.shape[0], -1)


@pytest.mark.parametrize("until", ["now", "backward", "step"])
@pytest.mark.parametrize("case", ["input", "gradient", "gradient of the input", "state"])
def test_what_a_loop_changes_after_backward_is_not_in_the_sum(case, until, monkeypatch):
    """Where it could be, the step is refused."""
    found = []
    for changes in (False, True):
        torch.manual_seed(1)
        model = {"state": State, "gradient of the input": Beside}.get(case, lambda: nn.Linear(5, 3))()
        if until != "now":
            waiting(monkeypatch, until)
        engine, model, optimizer, _ = private(model, loss_reduction="sum")
        x = data()[:4][0].clone()
        engine.own_run.own_steps.sample()
        engine.own_run.announce(Batch(4, None, 4, False, True, True))
        x.requires_grad_(case == "gradient of the input")
        output = model(x)
        gradient = torch.randn(output.shape)
        output.backward(gradient)
        changed = {"gradient": gradient, "gradient of the input": x.grad, "state": getattr(model, "start", None)}.get(case, x)
        if changes:
            with torch.no_grad():
                changed.mul_(3.0)
        if changes and until == "step":
            with pytest.raises(RequestError, match="changed in place"):
                optimizer.step()
            assert engine.own_run._count()[0] == 0
            return
        engine.own_run.settle()
        found.append(present_sum(engine))
    assert torch.equal(*found)


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
def test_inputs_that_are_changed_before_backward_are_refused(waits, monkeypatch):
    if waits:
        waiting(monkeypatch)
    engine, model, optimizer, _ = private()
    x, y = data()[:4]
    engine.own_run.own_steps.sample()
    engine.own_run.announce(Batch(4, None, 4, False, True, True))
    loss = nn.functional.cross_entropy(model(x), y)
    x.copy_(torch.randn(x.shape))
    with pytest.raises(RequestError, match="changed in place"):
        loss.backward()
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


@pytest.mark.parametrize("clipping", ["flat", "per_layer", "automatic"])
def test_a_factor_is_not_too_large_for_the_numbers_of_a_gradient(clipping, monkeypatch):
    """An input near 0 and a gradient near the largest number."""
    stand_in(monkeypatch)
    torch.manual_seed(1)
    model = nn.Linear(3, 1, bias=False)
    dataset = TensorDataset(torch.randn(60, 3), torch.randn(60, 1))
    engine, model, _, _ = private(model, dataset, clipping=clipping)
    x, y = torch.randn(256, 3), torch.randn(256, 1)
    x[0], y[0] = 1e-40, 3e38
    engine.own_run.announce(Batch(256, None, 256, False, True, True))
    nn.functional.mse_loss(model(x), y).backward()
    assert bool(present_sum(engine).isfinite().all())


def test_a_kernel_gets_only_convolutions_that_have_their_shapes():
    """A hook that changes an output leaves its gradients to PyTorch."""
    from reticent.torch.layers import small

    layer = nn.Conv2d(2, 3, 3)
    values, right = torch.randn(4, 2, 5, 5), torch.randn(4, 3, 3, 3)
    kept, small.is_launched = small.is_launched, lambda device: True
    try:
        assert small.geometry_of(layer, values, right, 1) is not None
        for wrong in (torch.randn(4, 3, 9, 9), torch.randn(4, 2, 3, 3)):
            assert small.geometry_of(layer, values, wrong, 1) is None
    finally:
        small.is_launched = kept


def test_kernels_that_measure_wrongly_are_noticed_before_the_first_step(monkeypatch):
    """The check goes the way that trains."""
    from reticent.errors import DataError

    native = stand_in(monkeypatch)
    own = native._measured
    monkeypatch.setattr(native, "_measured", lambda job, rows: own(job, rows) * (0.5 if job[0] == 1 else 1.0))
    model, draw, _ = made("images")
    engine, model, _, _ = private(model, TensorDataset(draw(60), torch.zeros(60).long()))
    engine.own_run.announce(Batch(ROWS, None, ROWS, False, True, True))
    with pytest.raises(DataError, match="not seen example by example"):
        model(draw(ROWS))


def test_a_thread_leaves_the_work_of_others_alone(monkeypatch):
    """Another thread may be taking a step with its own module while this one ends a backward pass."""
    from threading import Thread

    waiting(monkeypatch)
    engine, model, _, _ = private()
    x, y = data()[:4]
    engine.own_run.own_steps.sample()
    engine.own_run.announce(Batch(4, None, 4, False, True, True))
    loss = nn.functional.cross_entropy(model(x), y)
    other = Thread(target=loss.backward)
    other.start()
    other.join()
    # That thread did not call the module.
    assert engine.own_run.sum.is_empty and engine.own_run._waiting is not None
    engine.own_run.settle()
    assert not engine.own_run.sum.is_empty
