"""Sums of gradients in several precisions."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from reticent.torch.sampling import Batch  # noqa: E402
from test_torch_engine import clipped_loop, data, network, present_sum, private  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import TensorDataset  # noqa: E402


@pytest.mark.parametrize("inside", [False, True])
def test_norms_have_all_digits_under_autocast(inside):
    """An input that loses its difference to another in half precision, where the gradient is that difference times a vector."""
    torch.manual_seed(1)
    model = nn.Linear(64, 64, bias=False)
    dataset = TensorDataset(torch.randn(60, 2, 64), torch.zeros(60).long())
    engine, _, _, _ = private(model, dataset, loss_reduction="sum", check=False)
    x = torch.zeros(1, 2, 64)
    x[0, :, 0], x[0, 0, 1] = 1.0, 1.0 / 16
    signs = torch.tensor([64.0, -64.0]).view(1, 2, 1)
    engine.run.announce(Batch(1, None, 1, False, True, True))
    with torch.autocast("cpu", torch.bfloat16):
        loss = (model(x).float() * signs).sum()
        if inside:
            loss.backward()
    if not inside:
        loss.backward()
    found = present_sum(engine)
    assert 0.5 < float(found.norm()) <= 1.0


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers_under_autocast(kind):
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.memory, self.head = kind(5, 6, num_layers=2, batch_first=True), nn.Linear(6, 2)

        def forward(self, x):
            return self.head(self.memory(x)[0][:, -1])

    torch.manual_seed(1)
    model = Own()
    other = Own()
    other.load_state_dict(model.state_dict())
    engine, _, _, _ = private(model, TensorDataset(torch.randn(60, 4, 5), torch.zeros(60).long()))
    x, y = torch.randn(6, 4, 5), torch.tensor([0, 1] * 3)
    engine.run.announce(Batch(6, None, 6, False, True, True))
    with torch.autocast("cpu", torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x).float(), y)
        loss.backward()
    expected = clipped_loop(other, x, y, 1.0)
    assert float((present_sum(engine) - expected).norm()) < 0.1 * float(expected.norm())


def test_parameters_of_single_and_double_precision():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two, self.table = nn.Linear(5, 4), nn.Linear(4, 2).double(), nn.Embedding(3, 5)

        def forward(self, x):
            return self.two(torch.tanh(self.one(x + self.table((x > 0).long().sum(1) % 3))).double())

    torch.manual_seed(1)
    model = Own()
    other = Own()
    other.load_state_dict(model.state_dict())
    engine, _, _, _ = private(model)
    x, y = data()[:6]
    engine.run.announce(Batch(6, None, 6, False, True, True))
    nn.functional.cross_entropy(model(x), y).backward()
    assert torch.allclose(present_sum(engine), clipped_loop(other, x, y, 1.0).double(), atol=1e-5)


def test_a_sum_is_made_anew_only_where_nothing_else_is_in_it():
    """A first part with an example that is not finite, and a second one, by groups of parameters."""
    for kind in ("flat", "per_layer", "automatic"):
        model, other = network(), network()
        engine, _, _, _ = private(model, check=False, clipping=kind, loss_reduction="sum")
        apart, _, _, _ = private(other, check=False, clipping=kind, loss_reduction="sum")
        x, y = data()[:8]
        x = x.clone()
        x[1], x[6] = float("nan"), float("inf")
        for rows in (slice(0, 4), slice(4, 8)):
            engine.run.announce(Batch(4, None, 8, False, rows.start == 0, rows.stop == 8))
            nn.functional.cross_entropy(model(x[rows]), y[rows], reduction="sum").backward()
        good = [0, 2, 3, 4, 5, 7]
        apart.run.announce(Batch(6, None, 6, False, True, True))
        nn.functional.cross_entropy(other(x[good]), y[good], reduction="sum").backward()
        assert torch.allclose(present_sum(engine), present_sum(apart), atol=1e-5), kind
