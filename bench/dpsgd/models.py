"""The six networks of the benchmark in PyTorch: plain layers, or Opacus's own where it cannot take PyTorch's.

    python models.py      checks the number of parameters of each
"""

import torch
from torch import nn


class Recurrent(nn.Module):
    """Embedding, one LSTM layer, its last hidden state, a linear layer."""

    def __init__(self, private):
        super().__init__()
        self.embedding = nn.Embedding(10_000, 64)
        self.lstm = _opacus().DPLSTM(64, 128, batch_first=True) if private else nn.LSTM(64, 128, batch_first=True)
        self.head = nn.Linear(128, 2)

    def forward(self, tokens):
        _, (hidden, _) = self.lstm(self.embedding(tokens))
        return self.head(hidden[-1])


class Attending(nn.Module):
    """Embedding, two encoder blocks, the mean over time, a linear layer."""

    def __init__(self, private):
        super().__init__()
        self.embedding = nn.Embedding(10_000, 128)
        self.blocks = nn.Sequential(*(self._block(private) for _ in range(2)))
        self.head = nn.Linear(128, 2)

    @staticmethod
    def _block(private):
        block = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
        if private:
            block.self_attn = _opacus().DPMultiheadAttention(128, 4, batch_first=True)
        return block

    def forward(self, tokens):
        return self.head(self.blocks(self.embedding(tokens)).mean(dim=1))


def _opacus():
    """Imported when asked for, so that plain PyTorch runs without it."""
    import opacus.layers

    return opacus.layers


def logreg(_private):
    return nn.Linear(784, 10)


def mlp(_private):
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))


def mnist_cnn(_private):
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, stride=2, padding=3),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, stride=2),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(512, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )


def cifar_cnn(_private):
    layers, channels = [], 3
    for width in (32, 64, 128):
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.Tanh(), nn.Conv2d(width, width, 3, padding=1), nn.Tanh()]
        layers.append(nn.MaxPool2d(2))
        channels = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(2048, 128), nn.Tanh(), nn.Linear(128, 10))


# Name: maker, batch size, shape of one input, size of the vocabulary (None for real inputs), classes, parameters.
MODELS = {
    "logreg": (logreg, 512, (784,), None, 10, 7_850),
    "mlp": (mlp, 512, (784,), None, 10, 535_818),
    "mnist_cnn": (mnist_cnn, 256, (1, 28, 28), None, 10, 26_010),
    "cifar_cnn": (cifar_cnn, 128, (3, 32, 32), None, 10, 550_570),
    "transformer": (Attending, 64, (128,), 10_000, 2, 1_545_218),
    "lstm": (Recurrent, 64, (100,), 10_000, 2, 739_586),
}


def make(name, private=False):
    """The network, its parameters counted; `private` puts Opacus's layers where it has no rule for PyTorch's."""
    maker, *_, expected = MODELS[name]
    network = maker(private)
    counted = sum(parameter.numel() for parameter in network.parameters())
    if counted != expected:
        raise ValueError(f"{name}: {counted} parameters instead of {expected}")
    return network


def batch(name):
    """A fixed synthetic batch: inputs and classes."""
    _, size, shape, vocabulary, classes, _ = MODELS[name]
    generator = torch.Generator().manual_seed(1)
    if vocabulary is None:
        inputs = torch.randn(size, *shape, generator=generator)
    else:
        inputs = torch.randint(vocabulary, (size, *shape), generator=generator)
    return inputs, torch.randint(classes, (size,), generator=generator)


if __name__ == "__main__":
    for name, (*_, expected) in MODELS.items():
        for private in (False, True):
            network = make(name, private)
            inputs, classes = batch(name)
            assert network(inputs[:2]).shape == (2, MODELS[name][4])
        print(f"{name}: {expected} parameters")
