"""The data sets that ship with scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tensorldp_papers.data.split import Options, Parsed, parser, stratified
from tensorldp_papers.data.tabular import standardise


@parser("digits")
def parse_digits(files: Mapping[str, Path], options: Options) -> Parsed:
    """Handwritten digits: x (N, 8, 8) uint8 in 0 .. 16; stratified 80/20 split."""
    from sklearn.datasets import load_digits

    data = load_digits()
    return Parsed(*stratified(data.images.astype(np.uint8), data.target, 0.2, options.seed))


@parser("breast_cancer")
def parse_breast_cancer(files: Mapping[str, Path], options: Options) -> Parsed:
    """Breast cancer: x (N, 30) standardised, y 0 malignant and 1 benign; stratified 80/20 split."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    (train, y_train), (test, y_test) = stratified(data.data, data.target, 0.2, options.seed)
    train, test = standardise(train, test)
    return Parsed((train, y_train), (test, y_test))
