"""Audits of anybody's model, from what it says about each record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import _native, _tables
from .._core import load
from ..errors import RequestError
from .arrays import Bools, Drawn, out_folder, whole
from .files import PathLike, refusal
from .results import Audit
from .run import Bound, attacks_of, audit_study, audit_table, statement_of
from .study import Study


def coins(records: int) -> Bools:
    """Fair coins, from secure randomness: who is to be in the training data of a model to be audited.

    Train on the records whose coin is ``True``; ``drawn=0.5`` is then true, and a lower bound on ε can be
    stated.

    >>> from reticent.audit import coins
    >>> member = coins(1000)
    >>> member.dtype, 300 < member.sum().item() < 700
    (dtype('bool'), True)
    """
    return np.array(_native.coins(whole("records", records, 0)), dtype=np.bool_)


def attacks() -> list[dict[str, str]]:
    """The attacks there are, with what each needs.

    >>> from reticent.audit import attacks
    >>> [attack["name"] for attack in attacks()][:2]
    ['given-score', 'label-only']
    """
    return load(_native.attacks())["attacks"]  # type: ignore[no-any-return]


def audit(
    scores: Any = None,
    member: Any = None,
    *,
    target_logits: Any = None,
    target_probabilities: Any = None,
    reference_logits: Any = None,
    reference_probabilities: Any = None,
    reference_scores: Any = None,
    reference_members: Any = None,
    gradients: Any = None,
    reference_gradients: Any = None,
    labels: Any = None,
    ids: Any = None,
    users: Any = None,
    pairs: Any = None,
    groups: Any = None,
    features: Any = None,
    references_from: PathLike | None = None,
    drawn: Drawn | None = None,
    attacks: str | Iterable[str] | None = None,
    bound: Bound | None = None,
    guesses: float | None = None,
    delta: float | None = None,
    confidence: float = 0.95,
    prior: float | None = None,
    worst: int = 20,
    key: str = "reticent",
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Audit:
    """Audits anybody's model: how well attacks tell members from non-members, and what that proves about ε.

    The lower bound on ε is valid at its confidence for **one run, chosen beforehand**. It uses random splits
    of its own, so ``epsilon_lower`` differs from call to call on the same arrays: repeating the call and
    keeping the largest bound voids the confidence.

    Parameters
    ----------
    scores : array of n numbers, or a path
        A score of your own for each record, larger for records that look like members. Or the path of a table
        (``.csv``, ``.parquet``, ``.npz``) with the columns of the command; ``groups`` and ``features`` are
        then names of columns, and ``references_from`` is the file of the reference models.
    member : array of n truth values
        Who was in the target's training data.
    target_logits, target_probabilities : array, n × classes
        What the target said about each record.
    reference_logits, reference_probabilities : array, models × n × classes
        What reference models said; or ``reference_scores``, models × n.
    reference_members : array, models × n
        Who was in each reference model's training data.
    gradients : array, n × layers, or a mapping
        What a white-box attacker computes with the weights, in any framework: the norm of the gradient of the
        loss at each record, layer by layer. Or a mapping with ``"norms"`` and any of ``"input_norms"`` (n),
        ``"cosines"`` (n; with the mean gradient of all records), ``"features"`` (n × numbers, such as random
        projections of the gradient) and ``"activations"`` (n × numbers).
    reference_gradients : array, models × n × layers, or a mapping
        The same at the reference models.
    labels : array of n classes
        The true classes: numbers from 0, or texts, which are numbered in sorted order.
    ids, users, pairs : arrays of n names
        Which record, whose record, and which pair it belongs to (for ``drawn="pairs"``).
    groups : mapping of names to arrays of n values
        Groups to compare.
    features : array, n × features, or a data frame
        What is known about the records without the model, for the baseline.
    drawn : float, "fixed" or "pairs"
        How members were drawn. A lower bound on ε holds only if this is true, so it is never assumed: a
        number p says that each record (with ``users`` each user) was included by an independent coin flip
        with probability p (:func:`coins`); ``"fixed"``, that a fixed number was included, all such sets
        equally likely, as ``train_test_split`` draws them; ``"pairs"``, that one record of each pair was
        included by a fair coin.
    attacks : names
        The attacks to run (:func:`attacks`); all that can be run if left out.
    bound : str
        How ε is bounded from below; ``"one-run"`` by default where ``drawn`` is given.
    guesses, delta, confidence, prior : float
        The share of records guessed (fixed before any result is seen), the δ of the bound, the confidence of
        intervals and bounds, and the share of members among those an attacker would try.
    worst : int
        How many of the records most at risk are listed.
    key : str
        The key of every split.
    out : path
        A folder for the audit. ``audit.json`` may be shared; the other files say who was a member.

    Examples
    --------
    >>> import numpy as np
    >>> from reticent.audit import audit, coins
    >>> member = coins(400)
    >>> logits = np.random.default_rng(1).normal(size=(400, 2))
    >>> labels = np.arange(400) % 2
    >>> found = audit(target_logits=logits, member=member, labels=labels, drawn=0.5, confidence=0.999999)
    >>> found.epsilon_lower.value
    0.0

    Gradients that are shorter for members:

    >>> norms = np.random.default_rng(2).exponential(size=(400, 3)) / (1 + 9 * member[:, None])
    >>> found = audit(target_logits=logits, member=member, labels=labels, gradients=norms)
    >>> [row.access for row in found.by_access]
    ['predictions', 'gradients']
    >>> found.by_access[1].attack, found.attack("gradient-norm").auc.value > 0.8
    ('gradient-norm', True)
    """
    statement = statement_of(bound, guesses, delta, confidence, prior, worst, key)
    chosen = attacks_of(attacks)
    place = out_folder(out)
    arrays = {
        "target_logits": target_logits,
        "target_probabilities": target_probabilities,
        "reference_logits": reference_logits,
        "reference_probabilities": reference_probabilities,
        "reference_scores": reference_scores,
        "reference_members": reference_members,
        "gradients": gradients,
        "reference_gradients": reference_gradients,
        "labels": labels,
        "ids": ids,
        "users": users,
        "pairs": pairs,
    }
    if _tables.is_path(scores):
        given = {"member": member, **arrays}
        for name, values in given.items():
            if values is not None:
                remedy = "does not go with a path: put it into the table as a column"
                raise refusal(RequestError, "R103", name, None, remedy)
        table: dict[str, Any] = {
            "scores": Path(scores),
            "references-from": out_folder(references_from, "references_from"),
            "groups": _columns(groups, "groups"),
            "features": _columns(features, "features"),
        }
        return audit_table(table, drawn, chosen, statement, place, progress)
    if references_from is not None:
        remedy = "goes with a path: give reference_logits, reference_probabilities or reference_scores"
        raise refusal(RequestError, "R103", "references_from", references_from, remedy)
    study = Study.of(scores=scores, member=member, groups=groups, features=features, drawn=drawn, **arrays)
    return audit_study(study, drawn, chosen, statement, place, progress)


def _columns(names: Any, field: str) -> list[str]:
    """Names of columns of a table on disk."""
    if names is None:
        return []
    chosen = [names] if isinstance(names, str) else names
    if isinstance(chosen, Mapping) or not isinstance(chosen, Iterable):
        raise refusal(RequestError, "R104", field, names, "give names of columns of the table")
    listed = list(chosen)
    if not all(isinstance(name, str) for name in listed):
        raise refusal(RequestError, "R104", field, None, "give names of columns of the table")
    return listed
