"""Private training on a GPU: the same sums as on the CPU, and noise that is drawn there."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)

from reticent.torch import PrivacyEngine  # noqa: E402
from reticent.torch.sampling import Batch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

# Convolutions in full single precision, as on the CPU.
torch.backends.cudnn.allow_tf32 = False
ROWS = 24


class Recurrent(nn.Module):
    def __init__(self, cells) -> None:
        super().__init__()
        self.words, self.cells = nn.Embedding(30, 8), cells
        self.head = nn.Linear(12 * (1 + cells.bidirectional), 3)

    def forward(self, x):
        output, last = self.cells(self.words(x))
        last = last[1] if isinstance(last, tuple) else last
        return self.head(output[:, -1] + output.mean(1)) + last.sum((0, 2))[:, None]


def pictures():
    return torch.randn(ROWS, 3, 12, 12)


def tokens():
    return torch.randint(0, 30, (ROWS, 9))


MODELS = {
    "linear": (lambda: nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 3)), lambda: torch.randn(ROWS, 20)),
    "convolutions": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(4, 8), nn.ReLU(), nn.Conv2d(8, 40, 3, stride=2, groups=2),
            nn.ReLU(), nn.Conv2d(40, 40, 3), nn.Flatten(), nn.Linear(360, 3),
        ),
        pictures,
    ),
    "wide convolutions": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
            nn.Conv2d(64, 65, 2, padding=1, dilation=2, padding_mode="circular"), nn.ReLU(), nn.Flatten(),
            nn.Linear(65 * 144, 3),
        ),
        lambda: torch.randn(ROWS, 3, 12, 12),
    ),
    "attention": (
        lambda: nn.Sequential(
            nn.Embedding(30, 16), nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True), nn.Flatten(),
            nn.Linear(144, 3),
        ),
        tokens,
    ),
    "lstm": (lambda: Recurrent(nn.LSTM(8, 12, batch_first=True)), tokens),
    "lstm of two layers and directions": (
        lambda: Recurrent(nn.LSTM(8, 12, num_layers=2, bidirectional=True, batch_first=True)), tokens,
    ),
    "gru": (lambda: Recurrent(nn.GRU(8, 12, batch_first=True)), tokens),
    "gru without biases": (lambda: Recurrent(nn.GRU(8, 12, bias=False, batch_first=True)), tokens),
    "rnn": (lambda: Recurrent(nn.RNN(8, 12, batch_first=True)), tokens),
    "rnn with relu": (lambda: Recurrent(nn.RNN(8, 12, nonlinearity="relu", batch_first=True)), tokens),
}  # fmt: skip


def private(model, x, **options):
    y = torch.arange(len(x)) % 3
    engine = PrivacyEngine()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    given = {"noise_multiplier": 1.5, "max_grad_norm": 2.0, "epochs": 4, **options}
    loader = DataLoader(TensorDataset(x, y), batch_size=6)
    engine.make_private(module=model, optimizer=optimizer, data_loader=loader, **given)
    return engine, optimizer, y


def summed(engine, model, x, y):
    """The clipped sum of a batch."""
    run = engine.own_run
    run.own_steps.sample()
    run.announce(Batch(len(x), None, len(x), False, True, True))
    nn.functional.cross_entropy(model(x), y).backward()
    run.settle()
    return run.sum.total().clone()


@pytest.mark.parametrize("clipping", ["flat", "per_layer", "automatic"])
@pytest.mark.parametrize("name", list(MODELS))
def test_sums_are_those_of_the_cpu(name, clipping):
    torch.manual_seed(3)
    make, data = MODELS[name]
    x, here = data(), make()
    there = copy.deepcopy(here).cuda()
    engine, _, y = private(here, x, clipping=clipping)
    expected = summed(engine, here, x, y)
    engine, _, _ = private(there, x, clipping=clipping)
    found = summed(engine, there, x.cuda(), y.cuda()).cpu()
    assert float((found - expected).norm()) <= 1e-4 * float(expected.norm())


def test_an_example_that_is_not_finite_counts_as_0():
    torch.manual_seed(3)
    model = MODELS["convolutions"][0]().cuda()
    x = pictures()
    engine, _, y = private(model, x)
    x[5] = float("inf")
    found = summed(engine, model, x.cuda(), y.cuda())
    rest = torch.arange(ROWS) != 5
    engine.own_run.announce(None)
    run = engine.own_run
    run.announce(Batch(ROWS - 1, None, ROWS - 1, False, True, True))
    (nn.functional.cross_entropy(model(x[rest].cuda()), y[rest].cuda())).backward()
    run.settle()
    assert torch.allclose(found, run.sum.total(), rtol=1e-3, atol=1e-5)


def test_noise_is_drawn_on_the_gpu():
    torch.manual_seed(3)
    model = nn.Linear(1000, 50).cuda()
    x = torch.zeros(ROWS, 1000)
    engine, optimizer, y = private(model, x)
    drawn = []
    for _ in range(4):
        expected = summed(engine, model, x.cuda(), y.cuda())
        optimizer.step()
        assert engine.own_run.sum._gpu is not None and engine.own_run.sum._host is None
        gradient = torch.cat([own.grad.flatten() for own in model.parameters()])
        drawn.append((gradient * engine.own_run._divisor - expected).double().cpu())
        optimizer.zero_grad()
        assert engine.own_run.sum._sum is None
    count = drawn[0].numel()
    for place, own in enumerate(drawn):
        # σ is 1.5 × 2.
        assert abs(float(own.square().mean()) / 9 - 1) < 7 * (2 / count) ** 0.5
        assert abs(float(own.mean())) < 7 * 3 / count**0.5
        # A coordinate of a normal distribution is farther than 3σ from its mean with probability 0.0027.
        assert abs(float((own.abs() > 9).double().mean()) - 0.0027) < 7 * (0.0027 / count) ** 0.5
        for other in drawn[:place]:
            assert abs(float((own * other).mean())) < 7 * 9 / count**0.5


def test_streams_of_the_loop_are_followed():
    """Forward, backward and step on streams of their own: sums and noise are in their order."""
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(2000, 2000), nn.ReLU(), nn.Linear(2000, 3)).cuda()
    x = torch.randn(ROWS, 2000)
    engine, optimizer, y = private(model, x)
    expected = summed(engine, model, x.cuda(), y.cuda())
    there, target = x.cuda(), y.cuda()
    run = engine.own_run
    busy = torch.randn(4000, 4000, device="cuda")
    for place in range(3):
        one, two = torch.cuda.Stream(), torch.cuda.Stream()
        run.announce(None)
        run.announce(Batch(ROWS, None, ROWS, False, True, True))
        torch.cuda.synchronize()
        with torch.cuda.stream(one):
            for _ in range(20):
                busy = busy @ busy * 1e-3
            loss = nn.functional.cross_entropy(model(there), target)
        two.wait_stream(one)
        with torch.cuda.stream(two if place % 2 else one):
            loss.backward()
            run.settle()
            found = run.sum.total().clone()
        torch.cuda.synchronize()
        assert torch.allclose(found, expected, rtol=1e-4, atol=1e-6)
    optimizer.step()
    torch.cuda.synchronize()
    assert all(bool(own.grad.isfinite().all()) for own in model.parameters())


def test_a_module_may_move_to_the_gpu_once_it_is_private():
    engine = PrivacyEngine()
    model = nn.Linear(20, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(100, 20), torch.arange(100) % 3)
    engine.make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(data, batch_size=20), noise_multiplier=1.0, max_grad_norm=1.0, epochs=1
    )  # fmt: skip
    model.to("cuda")
    run = engine.own_run
    run.announce(Batch(ROWS, None, ROWS, False, True, True))
    run.own_steps.sample()
    before = model.weight.clone()
    nn.functional.cross_entropy(model(torch.randn(ROWS, 20, device="cuda")), torch.arange(ROWS, device="cuda") % 3).backward()
    optimizer.step()
    assert run.sum.device.type == "cuda" and not torch.equal(before, model.weight)
