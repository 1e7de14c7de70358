"""Audits that train the models themselves: scikit-learn and PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..errors import AuditError, RequestError
from .arrays import Drawn, labels_of, out_folder, whole
from .design import declared_draw, drawn_design
from .digests import digest_of, estimator_tokens, factory_tokens, hash_of
from .estimators import fit_sklearn, is_regressor, made_by, targets_of
from .files import PathLike, private_folder, refusal
from .models import count_of, imported, jobs_of, study_of, trained
from .modules import examples_of, fit_torch, read_examples
from .results import Audit
from .run import Bound, attacks_of, audit_study, audit_table, statement_of
from .study import Study, archive


def audit_sklearn(
    make_estimator: Any,
    X: Any,
    y: Any,
    references: int = 16,
    *,
    member: Any = None,
    drawn: Drawn | None = None,
    users: Any = None,
    ids: Any = None,
    groups: Any = None,
    features: Any = None,
    attacks: str | Iterable[str] | None = None,
    bound: Bound | None = None,
    guesses: float | None = None,
    delta: float | None = None,
    confidence: float = 0.95,
    prior: float | None = None,
    worst: int = 20,
    key: str = "reticent",
    n_jobs: int = 1,
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Audit:
    """Audits what ``make_estimator().fit(X, y)`` would leak about the records of ``X``.

    A fair coin for each record (with ``users``, each user) decides whether the target is trained on it.
    ``references`` models are trained on other random halves: with an even number, each record is in exactly
    half of them. All models then predict all records, and the attacks are run on their probabilities, on
    their decision functions, or for regressors on their errors.

    Since the function draws the members itself, a lower bound on ε follows. If ``member`` is given, it
    follows only if ``drawn`` says how the members were drawn. The bound is valid at its confidence for **one
    run, chosen beforehand**: it differs from run to run, and repeating the audit and keeping the largest
    bound voids the confidence.

    ``make_estimator`` is a function or a class without arguments, or an estimator, which is cloned.
    ``n_jobs`` models are trained at the same time (joblib). With ``out``, every finished model's predictions
    are stored: the same call goes on where it was stopped, and other data or settings are refused. The other
    arguments are those of :func:`audit`.

    >>> import numpy as np
    >>> from reticent.audit import audit_sklearn
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(300, 5)), rng.integers(2, size=300)
    >>> found = audit_sklearn(DecisionTreeClassifier, X, y, references=4)
    >>> found.auc > 0.6  # it learns its records by heart
    True
    >>> found.epsilon_lower.neighboring
    'add-remove'
    """
    statement = statement_of(bound, guesses, delta, confidence, prior, worst, key)
    chosen = attacks_of(attacks)
    draw, place = declared_draw(member, drawn, bound), out_folder(out)
    count, jobs, records = whole("references", references, 0), jobs_of(n_jobs), count_of(X, "X")
    base = _base(records, users, ids, groups, features)
    _precheck(draw, chosen, statement)
    made = made_by(make_estimator)
    targets, classes, labels = targets_of(y, records, is_regressor(made))
    data = {"X": digest_of(X), "y": digest_of(targets)}
    settings = {"make_estimator": hash_of([*factory_tokens(make_estimator), *estimator_tokens(made)])}
    design = drawn_design(records, member, users, place, data, settings)
    job = functools.partial(fit_sklearn, make_estimator, X, targets, classes)
    models = trained(job, design, count, place, jobs, progress)
    study = study_of(base, models, labels, "make_estimator")
    return audit_study(study, draw, chosen, statement, place, progress)


def audit_torch(
    make_and_train: Callable[[Any, int], Any],
    dataset: Any,
    references: int = 16,
    *,
    member: Any = None,
    drawn: Drawn | None = None,
    labels: Any = None,
    users: Any = None,
    ids: Any = None,
    groups: Any = None,
    features: Any = None,
    attacks: str | Iterable[str] | None = None,
    bound: Bound | None = None,
    guesses: float | None = None,
    delta: float | None = None,
    confidence: float = 0.95,
    prior: float | None = None,
    worst: int = 20,
    key: str = "reticent",
    batch_size: int = 256,
    n_jobs: int = 1,
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Audit:
    """Audits what ``make_and_train`` would leak about the examples of ``dataset``.

    ``make_and_train(subset, seed)`` builds a module, trains it on ``subset`` (a
    :class:`torch.utils.data.Subset` of ``dataset``) and returns it. The modules are called in evaluation mode
    and without gradients on batches of all inputs; they return logits, examples × classes, or one logit for
    two classes. ``dataset`` gives pairs of an input and a class, or is a pair of tensors (inputs, classes);
    ``labels`` overrides the classes.

    Members and reference models are drawn as in :func:`audit_sklearn`, and ``out`` and ``n_jobs`` mean the
    same. The lower bound on ε is valid at its confidence for **one run, chosen beforehand**:
    repeating the audit and keeping the largest bound voids the confidence.

    A change of ``make_and_train``, of your functions that it calls and of the globals that they read is noticed
    when stored models are used again; what is reached through a module or a file is not: use another folder
    then.

    >>> import torch  # doctest: +SKIP
    >>> from reticent.audit import audit_torch  # doctest: +SKIP
    >>> def make_and_train(subset, seed):  # doctest: +SKIP
    ...     torch.manual_seed(seed)
    ...     x, y = (torch.stack(column) for column in zip(*subset))
    ...     model = torch.nn.Linear(3, 2)
    ...     optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    ...     for _ in range(5):
    ...         optimizer.zero_grad()
    ...         torch.nn.functional.cross_entropy(model(x), y).backward()
    ...         optimizer.step()
    ...     return model
    >>> x, y = torch.randn(100, 3), torch.arange(100) % 2  # doctest: +SKIP
    >>> found = audit_torch(make_and_train, (x, y), references=2)  # doctest: +SKIP
    >>> found.epsilon_lower.method  # doctest: +SKIP
    'one-run'
    """
    statement = statement_of(bound, guesses, delta, confidence, prior, worst, key)
    chosen = attacks_of(attacks)
    if not callable(make_and_train):
        remedy = "give a function of a subset and a seed that returns a trained module"
        raise refusal(RequestError, "R104", "make_and_train", make_and_train, remedy)
    size = whole("batch_size", batch_size, 1)
    draw, place = declared_draw(member, drawn, bound), out_folder(out)
    count, jobs = whole("references", references, 0), jobs_of(n_jobs)
    examples = examples_of(imported("torch", "dataset"), dataset)
    records = count_of(examples, "dataset")
    base = _base(records, users, ids, groups, features)
    _precheck(draw, chosen, statement)
    known, digest = read_examples(examples, labels, records)
    classes = labels_of(known, "dataset" if labels is None else "labels", records, None)
    data = {"dataset": digest}
    settings = {"make_and_train": hash_of(factory_tokens(make_and_train))}
    design = drawn_design(records, member, users, place, data, settings)
    job = functools.partial(fit_torch, make_and_train, examples, size)
    models = trained(job, design, count, place, jobs, progress)
    study = study_of(base, models, classes, "make_and_train")
    return audit_study(study, draw, chosen, statement, place, progress)


def _base(records: int, users: Any, ids: Any, groups: Any, features: Any) -> Study:
    """What is known of the records before any model is trained."""
    return Study.of(
        scores=np.zeros(records),
        member=np.zeros(records, dtype=np.bool_),
        ids=ids,
        users=users,
        groups=groups,
        features=features,
    )


def _precheck(drawn: Drawn | None, chosen: list[str], statement: dict[str, Any]) -> None:
    """Refuses before any model is trained what would be refused afterwards."""
    with private_folder() as folder:
        arrays = {"member": np.array([True, False] * 2), "score": np.arange(4.0)}
        fields: dict[str, Any] = {"scores": archive(folder / "scores.npz", arrays)}
        try:
            audit_table(fields, drawn, chosen, statement, None, False)
        except AuditError:
            # So few records answer nothing.
            pass
