"""Language models: texts in pieces, no label, perplexity, and texts that are drawn."""

from __future__ import annotations

import pytest
from networks import refused

from reticent import errors, train
from reticent.train import Embedding, Linear, Lstm, Network, Position, Transformer

LINES = ["to be or not", "to be", "that is", "the question"] * 6
LETTERS = {"tokens": "characters", "length": 8}
PLAIN = {"non_private": True, "batch_size": 8, "steps": 2}
NOISY = {"noise_multiplier": 2.0, "delta": 1e-3, "dataset_size": 24, "batch_size": 8, "steps": 2}


def test_texts_are_learnt_scored_and_drawn(tmp_path):
    terms = {"non_private": True, "batch_size": 12, "epochs": 60, "optimizer": "adam", "learning_rate": 0.02}
    made = train.fit("lstm-lm", LINES, validation=LINES[:4] + ["to"], out=tmp_path / "run", **LETTERS, **terms)
    assert made.perplexity < 4 and made.classes is None and made.certificate is None
    scores = made.evaluate(LINES)
    assert scores.rows == 24 and scores.tokens == sum(map(len, LINES)) + 24
    assert scores.perplexity < 3 and 0 < scores.accuracy <= 1
    likeliest = made.sample("the q", temperature=0, tokens=20)
    assert likeliest == made.sample("the q", temperature=0, tokens=20)
    assert likeliest[0].startswith("the q") and 5 < len(likeliest[0]) <= 25
    drawn = made.sample(count=3, tokens=4, top_k=5)
    assert len(drawn) == 3 and all(len(text) <= 4 for text in drawn)
    again = train.load(tmp_path / "run")
    assert again.evaluate({"text": LINES}).perplexity == pytest.approx(scores.perplexity)
    refused(lambda: made.predict(LINES), errors.ModelError, None)


def test_networks_of_ones_own(tmp_path):
    layers = [Embedding(out=4), Position(), Transformer(heads=2, hidden=4, causal=True), Linear(out=98)]
    made = train.fit(Network(layers, loss="next-token"), LINES, **LETTERS, **PLAIN)
    assert made.network.layers[0]["vocabulary"] == 98
    words = [Embedding(out=4), Lstm(4), Linear(out=5)]
    made = train.fit(Network(words, loss="next-token"), LINES, vocabulary=["to", "be", "or"], length=4, **PLAIN)
    assert all(set(text.split()) <= {"to", "be", "or"} for text in made.sample(count=4, tokens=6))
    open_eyed = [Embedding(out=4), Transformer(heads=2, hidden=4), Linear(out=98)]
    with pytest.raises(errors.ReticentError, match="causal = true"):
        train.fit(Network(open_eyed, loss="next-token"), LINES, **LETTERS, **PLAIN)


def test_rows_and_authors_are_the_unit():
    table = {"who": ["ann", "bob", "cid"] * 8, "say": LINES}
    made = train.fit("lstm-lm", table, text_column="say", **LETTERS, **NOISY)
    assert made.certificate.unit == "row"
    schema = 'unit = { column = "who" }\n[columns]\n'
    few = {**NOISY, "dataset_size": 3, "batch_size": 1}
    made = train.fit("lstm-lm", table, text_column="say", schema=schema, examples_per_user=2, **LETTERS, **few)
    assert "who" in made.certificate.unit
    assert made.evaluate({"say": LINES}).rows == 24


def test_what_is_refused():
    refused(lambda: train.fit("lstm-lm", LINES, LINES, **LETTERS, **PLAIN), errors.RequestError, "y")
    refused(lambda: train.fit("lstm-lm", LINES, length=8, **PLAIN), errors.RequestError, "vocabulary")
    short = {**LETTERS, "length": 1}
    refused(lambda: train.fit("lstm-lm", LINES, **short, **PLAIN), errors.InvalidValueError, "length")
    both = {**LETTERS, "vocabulary": ["to"]}
    refused(lambda: train.fit("lstm-lm", LINES, **both, **PLAIN), errors.RequestError, "vocabulary")
    refused(
        lambda: train.fit("lstm-lm", LINES, classes=["a", "b"], **LETTERS, **PLAIN), errors.RequestError, "classes"
    )
    made = train.fit("lstm-lm", LINES, **LETTERS, **PLAIN)
    refused(lambda: made.sample(temperature=-1), errors.InvalidValueError, "temperature")
    refused(lambda: made.sample(top_k=0), errors.InvalidValueError, "top_k")
