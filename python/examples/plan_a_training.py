"""Plans the noise of a training, and says what it costs.

    python3 plan_a_training.py
"""

from __future__ import annotations

from reticent.accounting import dpsgd, noise_multiplier


def main() -> None:
    """Prints the noise multiplier for ε = 3, what it really costs, and what other accountants would say."""
    sigma = noise_multiplier(
        target_epsilon=3, target_delta=1e-5, dataset_size=60_000, batch_size=256, epochs=20
    )
    training = dpsgd(noise_multiplier=float(sigma), dataset_size=60_000, batch_size=256, epochs=20)
    bounds = training.epsilon(delta=1e-5)
    print(f"noise multiplier {float(sigma):.4f}: epsilon between {bounds.lower:.6f} and {bounds.upper:.6f}")
    print(training.compare(delta=1e-5))
    print(training.statement(delta=1e-5))


if __name__ == "__main__":
    main()
