"""Gradients of single examples from one backward pass are those of a loop over the examples, for every kind of layer.

Everything is in double precision; gradients agree to 1e-9 of the largest, squared norms to 1e-7 (they include what rounding may hide).
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402
from torch_loops import compare, compare_single, random_loss, tapped_terms  # noqa: E402


@pytest.fixture(autouse=True)
def double():
    torch.manual_seed(7)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("shape", [(5, 6), (4, 3, 6), (3, 40, 6), (2, 2, 3, 6)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear(shape, bias):
    compare(nn.Sequential(nn.Linear(6, 7, bias), nn.Tanh(), nn.Linear(7, 2)), (torch.randn(shape),))


def test_linear_by_products_of_positions():
    layer = nn.Sequential(nn.Linear(40, 50), nn.Tanh(), nn.Linear(50, 30))
    compare(layer, (torch.randn(4, 3, 40),))


def test_norms_are_not_too_small_when_parts_cancel():
    from reticent.torch.terms import Outer

    torch.set_default_dtype(torch.float32)
    a, b = torch.randn(6, 1, 2, 300), torch.randn(6, 1, 2, 300)
    a[:, :, 1], b[:, :, 1] = a[:, :, 0], -b[:, :, 0] * (1 + 1e-6)
    true = (b.double().mT @ a.double()).flatten(1).square().sum(1)
    term = Outer(a * 1e3, b * 1e3)
    assert term.uses_gram
    assert torch.all(term.squared() >= 1e12 * true)


def one_after_the_other(left, right):
    """A product whose sums lose as much to rounding as the pieces of a library's product may."""
    from reticent.torch import terms

    found = None
    for start in range(0, left.shape[-1], terms.PIECE):
        piece = torch.zeros(*left.shape[:-1], right.shape[-1], dtype=left.dtype)
        for place in range(start, min(start + terms.PIECE, left.shape[-1])):
            piece = piece + left[..., place : place + 1] * right[..., place : place + 1, :]
        found = piece if found is None else found + piece
    return found


def hiding(width):
    """Two vectors that are the same but for numbers whose squares are lost beside the first one's."""
    a = torch.zeros(1, 1, 2, width)
    a[..., 0], a[:, :, 0, 1:] = 1.0, 2.0**-12
    return a


@pytest.mark.parametrize("width", [400, 769, 4096])
def test_norms_are_not_too_small_when_long_sums_lose_their_parts(width, monkeypatch):
    from reticent.torch import terms

    torch.set_default_dtype(torch.float32)
    monkeypatch.setattr(terms, "product", one_after_the_other)
    a, b = hiding(width), torch.zeros(1, 1, 2, 64)
    b[..., 0, :2], b[..., 1, :2] = 1.0, -1.0
    true = (b.double().mT @ a.double()).square().sum()

    def found():
        table = terms.Rows(torch.zeros(1, 2, dtype=torch.long), torch.cat([a[:, 0, :1], -a[:, 0, 1:]], 1), 3)
        whole = terms.Tied(terms.Outer(a.flip(2), b), terms.Rows(torch.full((1, 1), 5), torch.zeros(1, 1, width), 64))
        return terms.Outer(a, b).squared(), table.squared() * 2, whole.squared()

    assert terms.Outer(a, b).uses_gram
    assert all(float(own) >= true for own in found())
    # Without the length of the sums, what is added is too little.
    plain = terms.allowance
    monkeypatch.setattr(terms, "allowance", lambda kind, *_: plain(kind))
    assert float(found()[0]) < true or width < 500


def test_no_positions_have_no_gradient():
    from reticent.torch.terms import Outer, Rows

    term = Outer(torch.zeros(3, 1, 0, 5), torch.zeros(3, 1, 0, 4))
    table = Rows(torch.zeros(3, 0, dtype=torch.long), torch.zeros(3, 0, 4), 7)
    for own, size in ((term, 20), (table, 28)):
        assert torch.equal(own.squared(), torch.zeros(3))
        into = torch.full((size,), 2.0)
        own.write(torch.ones(3), into)
        assert torch.equal(into, torch.zeros(size))


def test_norms_are_not_too_small_when_squares_underflow():
    from reticent.torch.terms import Outer

    torch.set_default_dtype(torch.float32)
    for positions in (1, 2):
        a, b = torch.full((1, 1, positions, 300), 1e-23), torch.full((1, 1, positions, 300), 1e15)
        true = (b.double().mT @ a.double()).square().sum()
        assert true > 0 and Outer(a, b).squared()[0] >= true


@pytest.mark.parametrize("positions", [2, 6, 40])
def test_parts_that_cancel_are_not_added_at_full_length(positions):
    """Whatever norms come from: a gradient that is clipped to 1 has parts of length 600 at most, unless it is written out."""
    from reticent.torch.terms import Outer, Rows

    torch.set_default_dtype(torch.float32)
    for width in (4, 100):
        a = torch.randn(1, 1, 1, width).expand(1, 1, positions, width)
        b = torch.randn(1, 1, positions, width) * 1e6
        b[:, :, -1] -= b.sum(2)
        term = Outer(a, b)
        length = float(term.squared().sqrt())
        assert term.kept is not None or float(term.parts()) / length < 600
    index = torch.zeros(1, 4 * positions, dtype=torch.long)
    b = torch.randn(1, 4 * positions, 5) * 1e6
    b[:, -1] -= b.sum(1)
    term = Rows(index, b, 3)
    assert float(term.parts() / term.squared().sqrt()) < 600


class Forked(nn.Module):
    """Two layers whose outputs have one gradient, a chain behind them, and a layer of several positions."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.norm = nn.Linear(9, 6), nn.Linear(9, 6), nn.LayerNorm(6)
        self.three, self.four, self.steps = nn.Linear(6, 5, bias=False), nn.Linear(5, 3), nn.Linear(3, 4)

    def forward(self, x):
        own = self.four(torch.tanh(self.three(self.norm(self.one(x) + self.two(x * x)))))
        return own + self.steps(x.view(-1, 3, 3)).sum(1)[:, :3]


def test_norms_that_are_found_together_are_those_of_single_terms():
    from reticent.torch.joint import paired_squared

    torch.set_default_dtype(torch.float32)
    model, x = Forked(), torch.randn(20, 9)
    found = tapped_terms(model, (x,), lambda model, given: random_loss(model(*given)), 20)
    terms = [term for own in found.values() for _, term in own]
    assert len(terms) == 11
    expected = torch.stack([term.squared() for term in terms]).sum(0)
    # Three weights of one position have a bias; two of these have one and the same gradient.
    pairs, rest = paired_squared(terms)
    assert len(pairs) == 3 and len(rest) == 5
    assert torch.allclose(sum(pairs) + sum(term.squared() for term in rest), expected, rtol=1e-5, atol=0)


CONVOLUTIONS = [
    {},
    {"stride": 2},
    {"padding": 1},
    {"dilation": 2, "padding": 2},
    {"groups": 2},
    {"stride": 2, "padding": 2, "dilation": 2, "groups": 4},
    {"bias": False},
    {"padding": "same"},
    {"padding": 1, "padding_mode": "circular"},
    {"padding": 1, "padding_mode": "reflect"},
]


@pytest.mark.parametrize("options", CONVOLUTIONS)
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_convolution(dimensions, options):
    kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dimensions - 1]
    size = {1: (11,), 2: (8, 7), 3: (6, 5, 6)}[dimensions]
    first = kind(4, 4, 3, padding=1)
    compare(nn.Sequential(first, nn.Tanh(), kind(4, 8, 3, **options)), (torch.randn(3, 4, *size),))


@pytest.mark.parametrize("padding", [0, 2, (1, 3)])
@pytest.mark.parametrize("size, dilation", [((3, 3), (1, 1)), ((1, 1), (1, 1)), ((2, 4), (1, 2)), ((3, 2), (2, 1))])
def test_shifted_rows_give_the_gradients_of_a_convolution(size, dilation, padding):
    from reticent.torch.layers.shifted import Shifted

    layer = nn.Conv2d(4, 5, size, padding=padding, dilation=dilation, bias=False)
    x = torch.randn(6, 4, 9, 10)
    output = layer(x)
    b = torch.randn_like(output)
    loops = [torch.autograd.grad(layer(x[row : row + 1]), layer.weight, b[row : row + 1])[0] for row in range(6)]
    expected = torch.stack(loops)
    term = Shifted(lambda: nn.functional.pad(x, layer._reversed_padding_repeated_twice), b, size, dilation)
    with torch.no_grad():
        assert torch.allclose(term.squared(), expected.square().sum((1, 2, 3, 4)))
        assert torch.allclose(term.full().reshape(expected.shape), expected)
        factors, into = torch.rand(6), torch.zeros(layer.weight.numel())
        term.add(factors, into)
        assert torch.allclose(into.view_as(layer.weight), torch.einsum("r,roihw->oihw", factors, expected))
        bad = torch.tensor([False, True, False, False, False, True])
        spared, into = term.without(bad), torch.zeros(layer.weight.numel())
        spared.add(torch.ones(6), into)
        assert torch.allclose(into.view_as(layer.weight), expected[~bad].sum(0))


def test_convolution_of_uneven_kernels():
    compare(nn.Conv2d(2, 3, (3, 1), stride=(2, 1), padding=(0, 2)), (torch.randn(3, 2, 7, 4),))
    compare(nn.Conv2d(6, 4, 1), (torch.randn(3, 6, 2, 2),))
    compare(nn.Conv2d(3, 64, 4, stride=4), (torch.randn(2, 3, 8, 8),))


@pytest.mark.parametrize("options", CONVOLUTIONS)
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_convolution_in_single_precision(dimensions, options):
    from reticent.torch.layers.sliding import Slid

    kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dimensions - 1]
    size = {1: (11,), 2: (8, 7), 3: (6, 5, 6)}[dimensions]
    model = nn.Sequential(kind(4, 4, 3, padding=1), nn.Tanh(), kind(4, 8, 3, **options))
    terms = compare_single(model, (torch.randn(3, 4, *size),))
    assert isinstance(terms["2.weight"][0][1], Slid) == (dimensions < 3)


@pytest.mark.parametrize("seed", range(24))
def test_random_convolution_in_single_precision(seed):
    """Few and many places, kept and computed twice, several threads, gradients and inputs that are not contiguous."""
    import random

    draw = random.Random(seed)
    groups = draw.choice([1, 1, 1, 2, 3])
    channels, out = groups * draw.randint(1, 5), groups * draw.randint(1, 9)
    options = {
        "stride": (draw.randint(1, 3), draw.randint(1, 3)),
        "padding": (draw.randint(0, 2), draw.randint(0, 2)),
        "dilation": (draw.randint(1, 2), draw.randint(1, 2)),
        "groups": groups,
        "bias": draw.random() < 0.5,
    }
    kernel = (draw.randint(1, 4), draw.randint(1, 4))
    size = (draw.randint(7, 40), draw.randint(7, 40)) if draw.random() < 0.5 else (draw.randint(7, 10), draw.randint(7, 10))
    model: nn.Module = nn.Sequential(nn.Conv2d(channels, out, kernel, **options), nn.Tanh())
    values = torch.randn(draw.randint(1, 5), channels, *size)
    if draw.random() < 0.3:
        model, values = model.to(memory_format=torch.channels_last), values.to(memory_format=torch.channels_last)
    threads = torch.get_num_threads()
    torch.set_num_threads(draw.choice([1, 2, 7]))
    try:
        compare_single(model, (values,))
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("size", [9, 20])
@pytest.mark.parametrize("share", [0, 100])
def test_convolution_of_several_rows_for_an_example(size, share, monkeypatch):
    from reticent.torch.layers import sliding

    class Rows(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 3, 3, padding=1)

        def forward(self, values):
            return self.conv(values.flatten(0, 1)).reshape(values.shape[0], -1)

    monkeypatch.setattr(sliding, "SHARE", share)
    terms = compare_single(Rows(), (torch.randn(3, 4, 2, size, size),))
    assert (terms["conv.weight"][0][1].kept is not None) == (share > 0)


@pytest.mark.parametrize("size", [9, 20])
@pytest.mark.parametrize("share", [0, 100])
def test_examples_that_are_not_numbers_are_left_out_of_convolutions(size, share, monkeypatch):
    from reticent.torch.layers import sliding

    monkeypatch.setattr(sliding, "SHARE", share)
    layer = nn.Conv2d(2, 3, 3, padding=1).float()
    values, gradient = torch.randn(4, 2, size, size).float(), torch.randn(4, 3, size, size).float()
    values[1, 0, 0, 0], gradient[2, 0, 0, 0] = float("nan"), float("inf")
    bad = torch.tensor([False, True, True, False])

    def refused():
        raise AssertionError("not written out")

    term = sliding.Slides(layer).term(values, gradient, 1, refused)
    squared = term.squared()
    assert torch.isfinite(squared[~bad]).all() and not torch.isfinite(squared[bad]).any()
    rest = sliding.Slides(layer).term(values[~bad], gradient[~bad], 1, refused)
    assert torch.allclose(rest.squared(), squared[~bad], rtol=1e-6)
    into, expected = torch.zeros(54).float(), torch.zeros(54).float()
    term.without(bad).add(torch.ones(4), into)
    rest.add(torch.ones(2), expected)
    assert torch.allclose(into, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"groups": 2}, {"stride": 2}, {"padding": 1, "padding_mode": "circular"}])
@pytest.mark.parametrize("kind", [nn.Conv1d, nn.Conv2d])
def test_convolution_of_few_places_and_many_channels(kind, options):
    """Norms come from products of positions."""
    size = (4,) if kind is nn.Conv1d else (3, 4)
    terms = compare_single(nn.Sequential(kind(64, 128, 3, **({"padding": 1} | options)), nn.Tanh()), (torch.randn(3, 64, *size),))
    term = terms["0.weight"][0][1]
    found, full = term.squared(), term.full().flatten(1).square().sum(1)
    assert term.kept is None
    assert (found >= full).all() and (found <= 1.01 * full).all()


def test_sums_of_convolutions_that_are_not_kept_are_added_or_written(monkeypatch):
    from reticent.torch.layers import sliding

    monkeypatch.setattr(sliding, "SHARE", 0)
    layer = nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2).float()
    values, gradient = torch.randn(6, 4, 9, 8).float(), torch.randn(6, 6, 5, 4).float()
    factors = torch.tensor([0.5, 0.0, -2.0]).float()
    slope = gradient.view(3, 2, 6, 5, 4) * factors.view(3, 1, 1, 1, 1)
    expected = torch.nn.grad.conv2d_weight(
        values.double(), layer.weight.shape, slope.flatten(0, 1).double(), layer.stride, layer.padding, groups=2
    )
    for kind in (torch.float32, torch.float64):
        term = sliding.Slides(layer).term(values, gradient, 2, lambda: None)
        term.squared()
        assert term.kept is None
        into = torch.full(layer.weight.shape, float("nan"), dtype=kind).view(-1)
        term.write(factors, into)
        assert torch.allclose(into.double(), expected.view(-1), rtol=1e-5, atol=1e-4)
        term.add(factors, into)
        assert torch.allclose(into.double(), 2 * expected.view(-1), rtol=1e-5, atol=1e-4)


def test_norms_of_convolutions_are_not_too_small_when_parts_cancel(monkeypatch):
    """Where gradients are not kept, a gradient that is clipped to 1 has parts of length 600 at most."""
    from reticent.torch.layers import sliding

    monkeypatch.setattr(sliding, "SHARE", 0)
    for size in (6, 20):
        layer = nn.Conv2d(8, 8, 3).float()
        values = torch.ones(1, 8, size, size).float()
        gradient = torch.randn(1, 8, size - 2, size - 2).float() * 1e6
        gradient -= gradient.mean((2, 3), keepdim=True)
        term = sliding.Slides(layer).term(values, gradient, 1, lambda: None)
        lengths = torch.linalg.vector_norm(gradient.double(), dim=1).sum() * 72**0.5
        assert float(lengths / term.squared().double().sqrt()) < 600


@pytest.mark.parametrize(
    "options",
    [{}, {"stride": 2}, {"stride": 2, "padding": 1, "output_padding": 1}, {"groups": 2}, {"dilation": 2, "stride": 3}],
)
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_transposed_convolution(dimensions, options):
    kind = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)[dimensions - 1]
    size = {1: (7,), 2: (5, 4), 3: (3, 4, 3)}[dimensions]
    compare(nn.Sequential(kind(4, 6, 3, **options)), (torch.randn(3, 4, *size),))


@pytest.mark.parametrize("length", [1, 6, 150])
@pytest.mark.parametrize("padding", [None, 0])
def test_embedding(length, padding):
    layer = nn.Sequential(nn.Embedding(9, 5, padding_idx=padding), nn.Linear(5, 3))
    compare(layer, (torch.randint(0, 9, (4, length)),))


def test_embedding_of_one_token():
    compare(nn.Sequential(nn.Embedding(9, 5), nn.Linear(5, 3)), (torch.randint(0, 9, (4,)),))


@pytest.mark.parametrize(
    "layer, shape",
    [
        (nn.LayerNorm(6), (4, 6)),
        (nn.LayerNorm(6), (4, 5, 6)),
        (nn.LayerNorm((5, 6)), (4, 5, 6)),
        (nn.LayerNorm(6, bias=False), (4, 5, 6)),
        (nn.RMSNorm(6), (4, 5, 6)),
        (nn.RMSNorm((5, 6)), (4, 3, 5, 6)),
        (nn.GroupNorm(2, 6), (4, 6, 3, 3)),
        (nn.GroupNorm(3, 6), (4, 6)),
        (nn.InstanceNorm1d(6, affine=True), (4, 6, 5)),
        (nn.InstanceNorm2d(6, affine=True), (4, 6, 3, 2)),
        (nn.InstanceNorm3d(6, affine=True), (4, 6, 3, 2, 2)),
    ],
)
def test_normalization(layer, shape):
    layer.double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    compare(nn.Sequential(nn.Identity(), layer), (torch.randn(shape),))


class Attending(nn.Module):
    def __init__(self, batch_first, style, **options):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=batch_first, **options)
        self.batch_first, self.style = batch_first, style

    def forward(self, x):
        query = x.tanh()
        key = value = x if self.style != "self" else query
        if self.style == "cross":
            value = x.sin()
        if "wide" in self.style:
            key, value = x[..., :6], x[..., :5]
        masks = {}
        if self.style == "masked":
            length = x.shape[1]
            masks["attn_mask"] = torch.ones(length, length, dtype=torch.bool).triu(1)
            masks["key_padding_mask"] = torch.zeros(x.shape[:2], dtype=torch.bool)
            masks["key_padding_mask"][:, -1] = True
        if not self.batch_first:
            query, key, value = (own.transpose(0, 1) for own in (query, key, value))
            if self.style == "self":
                key = value = query
        output, _ = self.attention(query, key, value, need_weights=self.style in ("self", "masked"), **masks)
        return output if self.batch_first else output.transpose(0, 1)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(
    "style, options",
    [
        ("self", {}),
        ("shared keys", {}),
        ("cross", {}),
        ("masked", {}),
        ("self", {"bias": False}),
        ("cross", {"add_bias_kv": True, "add_zero_attn": True}),
        ("wide", {"kdim": 6, "vdim": 5}),
    ],
)
def test_attention(batch_first, style, options):
    torch.manual_seed(1)
    model = Attending(batch_first, style, **options)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    compare(model, (torch.randn(3, 4, 8),))


def test_attention_is_computed_as_by_torch():
    model = Attending(True, "masked")
    x = torch.randn(3, 4, 8)
    plain = model(x)
    from reticent.torch.layers import attach_all
    from reticent.torch.taps import Taps

    names = {own: name for name, own in model.named_parameters()}
    taps = Taps(model, names)
    attach_all(taps)
    taps.rows = 3
    assert torch.allclose(model(x), plain, atol=1e-12)
    taps.remove()
    assert "forward" not in model.attention.__dict__


class Recurrent(nn.Module):
    def __init__(self, kind, given_state=False, packed=False, **options):
        super().__init__()
        self.layer = kind(5, 4, **options)
        self.given_state, self.packed, self.batch_first = given_state, packed, options.get("batch_first", False)

    def forward(self, x):
        rows = x.shape[0]
        values = x if self.batch_first else x.transpose(0, 1)
        state = None
        if self.given_state:
            directions = 2 if self.layer.bidirectional else 1
            memory = x[:, 0, :4].expand(self.layer.num_layers * directions, rows, 4)
            first = memory[..., : self.layer.proj_size or 4]
            state = (first, memory.sin()) if self.layer.mode == "LSTM" else first
        if self.packed:
            lengths = (x[:, 0, 0].abs() * 10).long() % 4 + 2
            values = pack_padded_sequence(values, lengths, batch_first=self.batch_first, enforce_sorted=False)
        output, state = self.layer(values, state)
        if self.packed:
            output, _ = pad_packed_sequence(output, batch_first=self.batch_first, total_length=x.shape[1])
        output = output if self.batch_first else output.transpose(0, 1)
        states = state if isinstance(state, tuple) else (state,)
        return (output, *(own.transpose(0, 1) for own in states))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_first": True},
        {"num_layers": 2, "bidirectional": True},
        {"bias": False},
        {"given_state": True, "num_layers": 2},
        {"packed": True, "bidirectional": True},
        {"packed": True, "batch_first": True, "num_layers": 2},
    ],
)
def test_recurrent(kind, options):
    model = Recurrent(kind, **options)
    x = torch.randn(4, 6, 5)
    compare(model, (x,))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_first": True, "bias": False},
        {"num_layers": 2, "bidirectional": True},
        {"given_state": True, "num_layers": 2},
        {"packed": True, "bidirectional": True},
    ],
)
def test_outputs_of_an_lstm_may_be_shortened(options):
    model = Recurrent(nn.LSTM, proj_size=3, **options)
    compare(model, (torch.randn(4, 6, 5),))
    # A matrix that is not trained.
    model.layer.weight_hr_l0.requires_grad_(False)
    compare(model, (torch.randn(4, 6, 5),))


def test_recurrent_with_relu():
    compare(Recurrent(nn.RNN, nonlinearity="relu"), (torch.randn(4, 6, 5),))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN, lambda *given, **options: nn.LSTM(*given, proj_size=3, **options)])
@pytest.mark.parametrize("packed", [True, False])
def test_recurrent_layers_are_computed_as_by_torch(kind, packed):
    from reticent.torch.layers import attach_all
    from reticent.torch.taps import Taps

    model = Recurrent(kind, packed=packed, num_layers=2, bidirectional=True)
    x = torch.randn(4, 6, 5)
    plain = model(x)
    taps = Taps(model, {own: name for name, own in model.named_parameters()})
    attach_all(taps)
    taps.rows = 4
    for own, other in zip(model(x), plain, strict=True):
        assert torch.allclose(own, other, atol=1e-12)


def _like_cudnn(values, weights, stride, buffer, state, memory, mode, size, projection, layers, *rest):
    """The function of cuDNN with its arguments, by PyTorch's own on the CPU."""
    assert (stride, buffer, projection, layers) == (len(weights), "one piece", 0, 1) and size == state.shape[2]
    assert rest == (False, 0.0, True, False, [], None)
    names = {0: "rnn_relu", 1: "rnn_tanh", 2: "lstm", 3: "gru"}
    first = state if memory is None else (state, memory)
    output, *last = getattr(torch, names[int(mode)])(values, first, weights, stride == 4, 1, 0.0, True, False, False)
    return (output, *last, *[None] * (4 - len(last)))


@pytest.mark.parametrize(
    "options",
    [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False}, {"given_state": True, "num_layers": 2}],
)
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "ReLU"])
def test_recurrent_layers_by_cudnn(kind, options, monkeypatch):
    """What is asked of cuDNN, answered without a GPU."""
    from reticent.torch.layers import fused

    calls = []

    def answer(*given):
        calls.append(given)
        return _like_cudnn(*given)

    monkeypatch.setattr(fused, "fits", lambda projected, weight: True)
    monkeypatch.setattr(torch, "_cudnn_rnn", answer)
    monkeypatch.setattr(torch, "_cudnn_rnn_flatten_weight", lambda weights, *_: "one piece")
    own = {"nonlinearity": "relu"} if kind == "ReLU" else {}
    model = Recurrent(nn.RNN if kind == "ReLU" else getattr(nn, kind), **options, **own)
    compare(model, (torch.randn(4, 6, 5),))
    assert len(calls) == model.layer.num_layers * (2 if model.layer.bidirectional else 1)


class Direct(nn.Module):
    """Parameters that are used without a layer."""

    def __init__(self):
        super().__init__()
        self.start = nn.Parameter(torch.randn(1, 1, 6))
        self.place = nn.Parameter(torch.randn(1, 9, 6))
        self.scale = nn.Parameter(torch.randn(6))
        self.mix = nn.Parameter(torch.randn(6, 6))
        self.alpha = nn.Parameter(torch.tensor(0.7))
        self.inner = nn.Linear(6, 6)

    def forward(self, x):
        rows = x.shape[0]
        x = torch.cat([self.start.expand(rows, -1, -1), x], 1)
        x = x + self.place[:, : x.shape[1]]
        x = self.inner(x).tanh() * self.scale
        x = x @ self.mix.t() + self.alpha * x
        return torch.einsum("btd,de->bte", x, self.mix)


def test_parameters_that_are_used_directly():
    compare(Direct(), (torch.randn(3, 4, 6),))


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def test_layers_of_ones_own():
    compare(nn.Sequential(nn.Linear(5, 6), Scale(6), nn.Linear(6, 2)), (torch.randn(3, 4, 5),))


class TiedModel(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.table = nn.Embedding(length, 6)
        self.hidden = nn.Linear(6, 6)
        self.out = nn.Linear(6, length, bias=False)
        self.out.weight = self.table.weight

    def forward(self, x):
        return self.out(self.hidden(self.table(x)).tanh())


@pytest.mark.parametrize("length", [7, 60])
def test_tied_weights_count_as_one(length):
    compare(TiedModel(length), (torch.randint(0, length, (4, 5)),))


class Twice(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(self.layer(x).tanh())


def test_layers_that_are_used_twice():
    compare(Twice(nn.Linear(6, 6)), (torch.randn(4, 6),))
    compare(Twice(nn.Conv2d(2, 2, 3, padding=1)), (torch.randn(4, 2, 5, 5),))
    compare(Twice(nn.LayerNorm(6)), (torch.randn(4, 3, 6),))
    compare(Twice(nn.MultiheadAttention(6, 2, batch_first=True)), (torch.randn(4, 3, 6),), run=_attend)


def _attend(model, inputs):
    first = model.layer(inputs[0], inputs[0], inputs[0])[0].tanh()
    return random_loss(model.layer(first, first, inputs[0])[0])


class Folded(nn.Module):
    """Time is folded into the batch and out again."""

    def __init__(self):
        super().__init__()
        self.layer, self.norm = nn.Linear(5, 4), nn.LayerNorm(4)

    def forward(self, x):
        rows, time, width = x.shape
        return self.norm(self.layer(x.reshape(rows * time, width))).reshape(rows, time, 4)


def test_time_folded_into_the_batch():
    compare(Folded(), (torch.randn(3, 4, 5),))


def test_frozen_layers_and_parameters():
    model = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.LayerNorm(6), nn.Linear(6, 3))
    model[0].weight.requires_grad_(False)
    model[2].bias.requires_grad_(False)
    model[3].weight.requires_grad_(False)
    compare(model, (torch.randn(4, 5),))


def test_operations_in_place_after_a_layer():
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(27, 4), nn.ReLU(inplace=True))
    compare(model, (torch.randn(3, 2, 5, 5),))


def test_a_transformer_of_torch():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    compare(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (torch.randn(3, 4, 8),))


def test_lora_by_peft():
    peft = pytest.importorskip("peft")
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    config = peft.LoraConfig(r=2, target_modules=["0", "2"], init_lora_weights=False)
    model = peft.get_peft_model(model, config).double()
    assert any("lora_A" in name for name, own in model.named_parameters() if own.requires_grad)
    compare(model, (torch.randn(4, 6),))
