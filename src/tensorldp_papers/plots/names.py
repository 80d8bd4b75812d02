"""The names that people write, in figures and on pages: one table each; other names are shown as they are."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from functools import cache

from tensorldp.mechanism_table import MECHANISMS
from tensorldp_papers.plots.style import label
from tensorldp_papers.rooms import named, papers, rooms
from tensorldp_papers.run.cell import variant_factors

DATASETS = {  # in the order of figures
    "digits": "digits",
    "mnist": "MNIST",
    "fashion_mnist": "Fashion-MNIST",
    "cifar10": "CIFAR-10",
    "breast_cancer": "breast cancer",
    "svhn": "SVHN",
    "svhn_10k": "SVHN, 10,000 of 99,289 images",
    "imdb": "IMDB",
    "imdb_glove": "IMDB, GloVe 50d",
    "imdb_glove_short": "IMDB, last 50 tokens, GloVe 50d",
    "darknet": "Darknet",
    "darknet_5k": "Darknet, 5,000 of 141,530 flows",
    "adult": "Adult",
    "ctg": "CTG",
    "credit": "Credit",
    "creditcard_55k": "Credit, 36,599 of 284,807 rows",
    "synthetic": "synthetic values",
}
NETWORKS = {
    "alexnet_tanh": "AlexNet with tanh",
    "alexnet_tanh_head": "AlexNet with tanh",
    "ann": "network on bits",
    "bilstm": "BiLSTM",
    "bilstm_tanh": "BiLSTM with tanh",
    "bilstm_tanh_trained": "trained BiLSTM with tanh",
    "centroid": "class means",
    "cnn": "CNN",
    "fcn": "fully connected network",
    "gradients": "image gradients",
    "lenet": "LeNet",
    "lenet_wide": "LeNet with 3,136 × 512 weights",
    "lenet_tanh": "LeNet with tanh",
    "lenet_tanh_trained": "trained LeNet with tanh",
    "lenet_tanh_head": "LeNet's head",
    "linear": "linear model",
    "mlp": "MLP",
    "mlp_10": "MLP of 10 units",
    "mlp_12": "MLP of 12 units",
    "mobilenet_v2": "MobileNetV2",
    "imagenet_160": "two ImageNet networks, 160 px",
    "mobilenet_v2_trained": "MobileNetV2, trained again",
    "mobilenet_v2_trained_2": "MobileNetV2, second training",
    "mobilenet_v2_trained_3": "MobileNetV2, third training",
    "mobilenet_v2_tanh": "MobileNetV2 with tanh",
    "mobilenet_v2_tanh_trained": "MobileNetV2 with tanh, trained again",
    "mobilenet_v2_tanh_trained_2": "MobileNetV2 with tanh, second training",
    "mobilenet_v2_tanh_trained_3": "MobileNetV2 with tanh, third training",
    "small_cnn": "small CNN",
    "strokes": "strokes",
    "tanh_cnn": "small CNN with tanh",
    "vgg16_tanh": "VGG-16 with tanh",
    "words": "words",
}

VERDICTS = (
    "reproduced",
    "holds with a condition",
    "mixed",
    "not reproduced",
    "refuted",
    "undecided",
    "not checkable",
    "not run at this scale",
)
OPEN = ("undecided", "not run at this scale")

PLURALS = {
    "statement about runs": "statements about runs",
    **{name: name for name in VERDICTS},
    "holds with a condition": "hold with a condition",
    "mixed": "are mixed",
}

PROFILES = (
    "Privacy profiles of one release of 64 elements. A triangle is an audit of the release: its "
    "epsilon is at least this, at 99 % confidence."
)

HIGHER, LOWER = "higher is better", "lower is better"
METRICS = {
    "weighted_f1": ("weighted F1 on clean test records", HIGHER),
    "weighted_f1_perturbed_test": ("weighted F1 on perturbed test records", HIGHER),
    "accuracy": ("accuracy on clean test records", HIGHER),
    "accuracy_perturbed_test": ("accuracy on perturbed test records", HIGHER),
    "accuracy_ceiling": ("the highest accuracy that any classifier could have on perturbed test records", ""),
    "train_accuracy": ("accuracy on the training records", HIGHER),
    "train_records": ("training records", ""),
    "largest_class": ("share of the largest class", ""),
    "string_bits": ("bits of a record's string", ""),
    "auc": ("area under the ROC curve", HIGHER),
    "rss": ("residual sum of squares", LOWER),
    "rss_noisy": ("residual sum of squares, eigenvalues of the estimate", LOWER),
    "rss_true": ("residual sum of squares, eigenvalues of the true covariance", LOWER),
    "frobenius": ("error of the covariance, Frobenius norm", LOWER),
    "absolute_error": ("absolute error of the mean", LOWER),
    "relative_error": ("relative error of the mean", LOWER),
    "expected_absolute_error": ("absolute error of the mean by the closed form", LOWER),
    "expected_relative_error": ("relative error of the mean by the closed form", LOWER),
    "uploaded_megabytes": ("uploaded in the run (MB)", LOWER),
    "participation": ("share of clients in a round", ""),
    "shuffled_epsilon": ("central ε at δ = 1e-6 behind a trusted shuffler", LOWER),
    "across_sources_nearest": ("public control: nearest mean on the public source that it was not fitted on", ""),
    "across_sources_discriminant": ("public control: discriminant on the public source that it was not fitted on", ""),
    "across_sources_network": ("public control: network on the public source that it was not fitted on", ""),
    "across_sources_sum": ("public control: discriminant and network on the source that they were not fitted on", ""),
    "mse": ("mean squared error", LOWER),
    "rmse": ("root mean squared error of the reconstruction", ""),
    "psnr": ("peak signal-to-noise ratio of the reconstruction (dB)", ""),
    "ssim": ("structural similarity of the reconstruction", ""),
    "identification": ("share of records that the attack identifies", ""),
    "identification_bound": ("the largest share that the guarantee lets an attack identify", ""),
    "label_accuracy": ("share of labels that the attack finds", ""),
    "members": ("members among the records that the attack judges", ""),
    "canary_auc": ("attack on canaries: area under the ROC curve", ""),
    "noise": ("norm of the noise", ""),
    "distortion": ("relative change of the gradient by the defence", ""),
    "error": ("error of the reconstruction", ""),
    "change": ("change of the gradients by one record", ""),
    "change_a": ("change of the biases' gradients by one record", ""),
    "change_w": ("change of the weights' gradients by one record", ""),
    "gradient_norm": ("norm of the gradient", ""),
    "gradient_rms": ("root mean square of the gradient", ""),
    "tpr_at_fpr_0.01": ("attack on members: true positives at 1 % false ones", ""),
    "tpr_at_fpr_0.1": ("attack on members: true positives at 10 % false ones", ""),
    "canary_tpr_at_fpr_0.01": ("attack on canaries: true positives at 1 % false ones", ""),
    "canary_tpr_at_fpr_0.1": ("attack on canaries: true positives at 10 % false ones", ""),
    "tpr_bound_at_fpr_0.01": ("what the guarantee allows: true positives at 1 % false ones", ""),
    "tpr_bound_at_fpr_0.1": ("what the guarantee allows: true positives at 10 % false ones", ""),
}

FACTORS = {  # of several rooms; each has its own
    "limit=60000": "60,000 training records",
    "sensitivity=tight": "tight sensitivity",
    "subspace=identity": "no utility subspace",
    "unit=batch": "noise for a batch",
    "unit=record": "noise for a record",
    "B": "batch size",
    "d": "input size",
    "m": "width",
    "features": "size of the features",
}

WORDS = {
    "epsilon": "nominal ε",
    "guarantee_epsilon": "guaranteed ε at δ = 1e-5",
    "dataset": "data set",
    "guarantee_pure_epsilon": "guaranteed pure ε",
    "guarantee_unit": "unit",
    "setting": "records",
    "variant": "setting",
    **{name: words for name, (words, _) in METRICS.items()},
    "tpr": "true positives",
    "fpr": "false positives",
    "recovered": "record recovered",
    "at_utility_loss": "at a loss of utility",
    "utility_loss": "loss of accuracy",
    "printed_over_corrected": "printed over corrected",
    "times_idn": "times IDN's",
    "B": "batch size",
    "d": "input size",
    "m": "width",
}


def in_order(datasets: Iterable[str]) -> list[str]:
    """Returns data sets, each once, in the order of `DATASETS`; others come last, sorted."""
    places = list(DATASETS)
    return sorted(
        set(map(str, datasets)), key=lambda name: (places.index(name) if name in places else len(places), name)
    )


def dataset_name(key: str) -> str:
    """Returns a data set as people write it."""
    return DATASETS.get(key, key)


def title_name(name: str) -> str:
    """Returns a data set's name in a title, without what it is a part of."""
    return dataset_name(name).split(",")[0]


def study_name(key: str) -> str:
    """Returns a study in a word or two."""
    return str(named("studies").get(key, key.replace("_", " ")))


def network_name(key: str) -> str:
    """Returns a network, or the features that it makes, as people write it."""
    return str({**NETWORKS, **named("networks")}.get(key, key.replace("_", " ")))


def metric_label(name: str) -> str:
    """Returns a metric in words, with its direction where it has one."""
    words, direction = METRICS.get(name, (name.replace("_", " "), ""))
    return f"{words} ({direction})" if direction else words


def factor_words(key: str, value: str) -> str:
    """Returns a factor of a variant in words."""
    if key in ("model", "backbone"):
        return network_name(value) if key == "model" else f"features of {network_name(value)}"
    words = {**FACTORS, **named("factors")}
    return str(words.get(f"{key}={value}") or f"{words.get(key, key)}: {value.replace('_', ' ')}")


def variant_words(variant: str) -> str:
    """Returns a variant from the tables of results, or some of its factors, in words."""
    if variant in ("", "base"):
        return "as in the source"
    return ", ".join(factor_words(*pair.split("=", 1)) for pair in variant.split(","))


def line_name(mechanism: str, variant: str, apart: Container[str]) -> str:
    """Returns a cell's line, which `plots.style.label` may know: its mechanism with the factors not set `apart`."""
    factors = variant_factors(variant)
    return " ".join([mechanism, *(f"{key}={value}" for key, value in sorted(factors.items()) if key not in apart)])


def heading(column: str) -> str:
    """Returns a column's name as a table's head shows it."""
    return WORDS.get(column, column.replace("_", " "))


def table_text(name: str) -> tuple[str, str]:
    """Returns the title and the caption of a table of results/tables."""
    found = named("tables").get(name)
    return (
        (found.title, found.caption)
        if found
        else (f"Table {name.replace('_', ' ')}", f"The file results/tables/{name}.csv.")
    )


def privacy_captions() -> dict[str, str]:
    """Returns the captions of the drawings about privacy itself by their names."""
    of_rooms = {name: one.caption for name, one in named("pictures").items() if one.section == "privacy"}
    return {"privacy_profiles": PROFILES, **of_rooms}


def without_keys(text: str) -> str:
    """Returns a sentence with the names that people write for keys of studies, data, networks and mechanisms."""
    factors = r"\b(attack|augment|defence|model|backbone|strength|reading|learner|participation|[dmB])=([\w.]+\b)"
    text = re.sub(factors, lambda found: factor_words(found[1], found[2]), text)
    names, keys = _names(tuple(MECHANISMS.names()), tuple(room.paper for room in rooms()))
    return keys.sub(lambda key: names[key[0]], text)


@cache
def _names(mechanisms: tuple[str, ...], _: tuple[str, ...]) -> tuple[dict[str, str], re.Pattern[str]]:
    """Returns what people write for each key, and where a text has one that is no common word."""
    names = {**named("studies"), **DATASETS, **NETWORKS, **named("networks")}
    names |= {key: words for key, (words, _) in METRICS.items()}
    names |= {name: label(name) for name in mechanisms} | {key: source.short for key, source in papers().items()}
    keys = [key for key in names if re.search("[_-]", key)] + [
        "mnist",
        "cifar10",
        "svhn",
        "imdb",
        "ctg",
        "lenet",
        "privunit",
        "idn",
        "mvg",
        "udn",
    ]
    found = "|".join(map(re.escape, sorted(keys, key=len, reverse=True)))
    return names, re.compile(rf"(?<![\w-])(?:{found})(?![\w-])")
