"""Linear discriminants from releases alone: the covariance within the classes is estimated from them too.

A release's second moment is known up to a constant (`least_squares.second_moment`), so that it costs no further
privacy. Without public unlabelled records it is what takes the place of their covariance.
"""

from __future__ import annotations

import torch
from torch import Tensor

from tensorldp.errors import check_positive
from tensorldp.mechanisms.base import Mechanism
from tensorldp_papers.public.least_squares import debiased_moment, ridged_inverse
from tensorldp_papers.public.means import Metric, class_moments, mean_scores
from tensorldp_papers.public.scores import LinearScores


def discriminant_from_releases(
    releases: Tensor, labels: Tensor, classes: int, mechanism: Mechanism, *, ridge: float = 1.0
) -> LinearScores:
    """Linear discriminant analysis: class means of releases in the metric of their debiased covariance within classes.

    Within is the debiased second moment less the spread of the class means, whose known noise is taken out. Assumes
    that all classes have one covariance. The ridge is `ridge` times the moment's noise in the operator norm, so that
    the metric is the plain distance where the noise is all that there is; eigenvalues below zero count as zero.

    Args:
        releases: (records, dimension) of unit records.
        labels: (records,) public class indices.
        classes: how many, at least 2.
        mechanism: what released them.
        ridge: the ridge as a multiple of the noise.

    Raises:
        InputError: if releases and labels do not fit, or the mechanism's second moment is not known.
    """
    ridge = check_positive("ridge", ridge)
    counts, means, error = class_moments(releases, labels, classes)
    moment, noise = debiased_moment(releases, mechanism)
    shares, d = counts / len(releases), releases.shape[1]
    between = (means.T * shares) @ means - float(shares @ error) / d * torch.eye(d, dtype=torch.float64)
    within = ridged_inverse(moment - between, ridge * noise)
    return mean_scores(means, error, Metric(shares @ means, within))
