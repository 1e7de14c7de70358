"""Asks questions about a table until its budget is spent.

    python3 questions_within_a_budget.py TABLE.parquet
"""

from __future__ import annotations

import sys

from reticent import Budget, release
from reticent.errors import BudgetError


def main(path: str) -> None:
    """Prints noisy counts by age, each with its interval, until the budget refuses."""
    budget = Budget(epsilon=1.0, name=path)
    for age in range(20, 90, 10):
        try:
            answer = release.count(path, where=f"age >= {age}", epsilon=0.2, budget=budget)
        except BudgetError as error:
            print(error)
            break
        low, high = answer.interval
        print(f"{age} or older: {answer.value} (95 % within {low} and {high})")
    print(budget)


if __name__ == "__main__":
    main(sys.argv[1])
