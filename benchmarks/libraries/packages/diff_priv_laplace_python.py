"""diff-priv-laplace-python: answers of queries with Laplace noise."""

from typing import Any

from kit import Package

package = Package("diff-priv-laplace-python", "1.0.5")


@package.randomizer(
    "DiffPrivSumAnonymizer.apply",
    epsilon=1.0,
    says="epsilon of the Laplace mechanism",
    where="README",
    batch=True,
    exact=1.0,
)
def total() -> Any:
    from diffpriv_laplace.anonymizer.sum import DiffPrivSumAnonymizer

    return DiffPrivSumAnonymizer(1.0, 0.0, 1.0).apply


@package.randomizer(
    "DiffPrivCountAnonymizer.apply",
    epsilon=1.0,
    says="epsilon of the Laplace mechanism",
    where="README",
    categories=2,
    batch=True,
    exact=1.0,
)
def count() -> Any:
    from diffpriv_laplace.anonymizer.count import DiffPrivCountAnonymizer

    return DiffPrivCountAnonymizer(1.0).apply
