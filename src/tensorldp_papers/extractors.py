"""The names of the frozen networks whose features TLDP's and TVG's Type II release, and what a name tells."""

from __future__ import annotations

# the ends of the names of extractors that were trained on the records, each of them anew
TRAININGS = ("_trained", "_trained_2", "_trained_3")
MOBILE = ("mobilenet_v2_tanh", "mobilenet_v2")
SPLIT = ("lenet_tanh", "vgg16_tanh", "alexnet_tanh", "bilstm_tanh")
NETWORKS = MOBILE + SPLIT
EXTRACTORS = ("tanh_cnn", *NETWORKS, *(name + training for training in TRAININGS for name in NETWORKS))


def is_trained(extractor: str) -> bool:
    """Returns whether an extractor was trained on the records, so that it depends on them."""
    return extractor.endswith(TRAININGS)


def network(extractor: str) -> str:
    """Returns the network of an extractor, without how it was trained."""
    return extractor.rpartition("_trained")[0] or extractor


def feature_range(extractor: str) -> tuple[float, float]:
    """Returns the range of an extractor's features: of ReLU6's means [0, 6], of tanh's values [-1, 1]."""
    return (0.0, 6.0) if network(extractor) == "mobilenet_v2" else (-1.0, 1.0)
