"""What a model leaks about who was in its training data: attacks, lower bounds on ε, and reports.

Give one score for each record and who was a member:

>>> import numpy as np
>>> from reticent.audit import audit, coins
>>> member = coins(500)
>>> scores = np.random.default_rng(0).normal(size=500) + 2 * member
>>> found = audit(scores, member, drawn=0.5)
>>> 0.8 < found.auc < 1
True
>>> found.epsilon_lower.confidence
0.95

or what the model and reference models said about each record (``target_logits=``, ``reference_logits=``, …;
``gradients=`` for attackers who have the weights),
or let :func:`audit_sklearn` and :func:`audit_torch` train the models. :func:`audit_model` and
:func:`audit_canaries` audit models that were trained by this package, :func:`audit_federated` parties that
trained together; :func:`reconstruct` and :func:`difference` recover whole records, and :func:`infer_attribute`
one column; :func:`plant_secrets` measures how exposed secrets in texts are.

An audit reads the records themselves. Its results are for the auditor, and no certificate covers them.
"""

from __future__ import annotations

from .attributes import infer_attribute
from .disclosures import Disclosure, DisclosureMeasure, Disclosures
from .federated import audit_federated
from .records import difference, reconstruct
from .reports import Report
from .results import (
    AccessResult, AttackResult, Audit, AuthorPage, AuthorsResult, Comparison, EpsilonLower, Estimate, ObservedRounds, Trajectory, load,
)
from .scores import attacks, audit, coins
from .secrets import plant_secrets
from .stored import audit_canaries, audit_model
from .training import audit_sklearn, audit_torch

__all__ = [
    "AccessResult",
    "AttackResult",
    "Audit",
    "AuthorPage",
    "AuthorsResult",
    "Comparison",
    "Disclosure",
    "DisclosureMeasure",
    "Disclosures",
    "EpsilonLower",
    "Estimate",
    "ObservedRounds",
    "Report",
    "Trajectory",
    "attacks",
    "audit",
    "audit_canaries",
    "audit_federated",
    "audit_model",
    "audit_sklearn",
    "audit_torch",
    "coins",
    "difference",
    "infer_attribute",
    "load",
    "plant_secrets",
    "reconstruct",
]
