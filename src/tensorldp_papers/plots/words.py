"""Numbers and names as people read them, in figures and on pages; names that are not here stand for themselves.

A user's own data are named as such: nobody is to take them for what a paper shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from tensorldp_papers.citations import PAPERS
from tensorldp_papers.data.catalogue import ENTRIES
from tensorldp_papers.plots.style import family, label, order
from tensorldp_papers.run.audit_table import NOT_AUDITED, REFUTED
from tensorldp_papers.run.method_plan import SYNTHETIC

# numbers


def axis_number(value: float) -> str:
    """A number on an axis: plain, or a power of ten where it has many digits."""
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    power = math.floor(math.log10(abs(value)) + 1e-9)
    lead = value / 10.0**power
    return f"$10^{{{power}}}$" if math.isclose(lead, 1.0) else f"${lead:.3g}·10^{{{power}}}$"


def whole_number(value: float) -> str:
    """Three digits, or all those of a large number before its point, with commas."""
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def short_number(value: float) -> str:
    """Three digits, thousands with a comma."""
    return whole_number(float(f"{value:.3g}"))


def power_number(value: float) -> str:
    """A number without zeros that say nothing: from 1e4 on a power of ten."""
    return f"{value:g}" if value < 1e4 else f"1e{round(math.log10(value))}"


def table_number(value: Any) -> str:
    """A number to four digits, infinities as a sign, and a dash where there is none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float):
        return ("∞" if value > 0 else "-∞") if math.isinf(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def json_number(value: float, digits: int = 6) -> float | None:
    """A number to so many digits for JSON, None where it is not finite."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def counted(number: int, what: str) -> str:
    """A number with a noun or a verdict, in the singular where it is 1."""
    return f"{number:,} {what if number == 1 else PLURALS.get(what, f'{what}s')}"


# axes, families and standings

EPSILON_AXES = {
    "nominal": "nominal ε{of}, as the source writes it (nats{note})",
    "guaranteed": "guaranteed ε of the whole {unit} at δ = 1e-5 (nats)",
    "pure": "guaranteed pure ε of the whole {unit}{without} (nats)",
}
FAMILIES = {
    "laplace": "Laplace",
    "gaussian": "Gaussian",
    "directional": "noise by direction",
    "tldp-laplace": "TLDP",
    "tldp-gaussian": "TLDP",
}
STANDINGS = {NOT_AUDITED: "hollow: no audit has tried the guarantee", REFUTED: "crossed out: the guarantee is refuted"}


def epsilon_label(axis: str, unit: str, *, of: str = "", note: str = "", without: str = "") -> str:
    """The label of an epsilon axis.

    Args:
        axis: `nominal`, `guaranteed` or `pure`.
        unit: what the guarantee is of.
        of: what the nominal epsilon is of.
        note: on the unit of the nominal epsilon.
        without: what the pure guarantee leaves out.
    """
    return EPSILON_AXES[axis].format(unit=unit, of=of, note=note, without=without)


def family_words(names: Iterable[str]) -> str:
    """The families of some mechanisms in words."""
    return ", ".join(dict.fromkeys(FAMILIES.get(family(name), family(name)) for name in names))


def standing_words(rows: pd.DataFrame) -> str:
    """The sentence of a caption that names the mechanisms whose guarantee nothing tried or something refuted."""
    if "standing" not in rows:
        return ""
    sentences = []
    for standing, words in (
        (NOT_AUDITED, "Hollow, because no audit has tried the guarantee: {}."),
        (REFUTED, "Crossed out, because the guarantee is refuted: {}."),
    ):
        if names := order(set(rows[rows["standing"] == standing]["mechanism"])):
            sentences.append(words.format(", ".join(label(name) for name in names)))
    return " ".join(sentences)


# data sets of a user's own

KNOWN = {SYNTHETIC, *(entry.name for entry in ENTRIES)}


def own_data(datasets: Iterable[str], source: str) -> list[str]:
    """Those of the data sets that do not come with this package, sorted; none where the study is no known paper's.

    Args:
        datasets: those that a study has.
        source: the key of its paper.
    """
    return sorted(set(map(str, datasets)) - KNOWN) if source in PAPERS else []


def titled(title: str, datasets: Iterable[str]) -> str:
    """A title, which says so if it names a paper and what is drawn is, wholly or in part, a user's own."""
    names = set(map(str, datasets))
    own = own_data(names, next((key for key, paper in PAPERS.items() if title.startswith(paper.short)), ""))
    if own and names == set(own):
        return f"Your data, as in {title}"
    return f"{title}\n{', '.join(own)}: your own data, by the same method" if own else title


def origin(figure: str, stated: str, datasets: Iterable[str], source: str) -> str:
    """A sentence on what of its source a study draws, and whether of a user's own data.

    Args:
        figure: of the source; empty where no source has it.
        stated: where the study's numbers come from, in words.
        datasets: those that are drawn.
        source: the key of the study's paper.
    """
    names = set(map(str, datasets))
    own = own_data(names, source)
    if not figure:
        return f"In no source's figures ({stated})."
    if own and names == set(own):
        return f"Your data, {', '.join(own)}, by the method of {figure} of the source ({stated}), which lacks them."
    return f"{figure} of the source ({stated})" + (f", and by its method your data, {', '.join(own)}." if own else ".")


# verdicts, tables, metrics and variants

VERDICTS = (
    "reproduced",
    "holds with a condition",
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
}

PRIVACY = {
    "privacy_profiles": "Privacy profiles of one release of 64 elements. An arrow is an audit of the release at "
    "the nominal epsilon of its form: epsilon is at least this, at 99 % confidence. It is red where that is more than "
    "the nominal epsilon. To the right of its own profile, full with full and open with dashed, it would refute that.",
    "accuracy_ceiling": "The highest expected accuracy that a classifier can have on test records released with "
    "epsilon-LDP, what sources claim, and our runs at their nominal and at their guaranteed epsilon.",
}

TABLES = {
    "tldp_table5": (
        "TLDP's Table 5: how much noise",
        "The expected l2 norm of the noise, as the printed formula has "
        "it, as the mechanism's own theorem gives it (exact), and as measured (mean of 400 releases), in "
        "the unit of the data.",
    ),
    "tvg_table4": (
        "TVG's Table IV: how noise grows with the record",
        "The expected error E ||Z||² by the printed "
        "formula, exact and measured, as a multiple of IDN's at the same size, and the fitted exponents in "
        "I at a fixed I_1 (the column rows). UDN's error is I_1 times IDN's, so whether UDN or the Gaussian "
        "per element has less noise depends on I_1.",
    ),
    "latent_table1": ("LATENT's Table 1", "Computed here, beside the printed values where there are any."),
    "latent_table2": ("LATENT's Table 2", "Computed here, beside the printed values where there are any."),
    "reconstruction": (
        "Defences against reconstruction",
        "What each defence guarantees, what it costs, and how well the best attack reconstructs.",
    ),
}

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

FACTORS = {
    ("backbone", "lenet_tanh"): "features of LeNet",
    ("backbone", "mobilenet_v2_tanh"): "features of MobileNetV2",
    ("backbone", "tanh_cnn"): "features of a small CNN",
    ("budget", "model"): "ε for a whole model",
    ("budget", "run"): "ε for the whole run",
    ("control", "public"): "public data alone",
    ("control", "shuffled"): "labels shuffled",
    ("private", "record"): "label private too",
    ("private", "test"): "private test records",
    ("private", "answer"): "private answers",
    ("range", "printed"): "the printed range of 256",
    ("sensitivity", "tight"): "tight sensitivity",
    ("subspace", "identity"): "no utility subspace",
    ("unit", "batch"): "noise for a batch",
    ("unit", "record"): "noise for a record",
    ("where", "server"): "noise added at the server",
    ("where", "user"): "noise added by users",
    ("eps", "same"): "one ε for all clients",
    ("eps", "e1"): "clients' ε: 0.1, 0.2",
    ("eps", "e2"): "clients' ε: 0.1 to 1",
    ("eps", "e3"): "clients' ε: 0.9, 1",
    ("tau", "t1"): "ranges of width 0.2, 0.4",
    ("tau", "t2"): "ranges of width 0.2 to 2",
    ("tau", "t3"): "ranges of width 1.8, 2",
}
FACTOR_NAMES = {
    "B": "batch size",
    "d": "input size",
    "m": "width",
    "tau": "range of width",
    "eps": "clients' ε",
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


def metric_label(name: str) -> str:
    """A metric in words, with its direction where it has one."""
    words, direction = METRICS.get(name, (name.replace("_", " "), ""))
    return f"{words} ({direction})" if direction else words


def factor_words(key: str, value: str) -> str:
    """A factor of a variant in words."""
    return FACTORS.get((key, value)) or f"{FACTOR_NAMES.get(key, key)}: {value.replace('_', ' ')}"


def variant_words(variant: str) -> str:
    """A variant, as the tables of results have it, in words."""
    if variant == "base":
        return "as in the source"
    return ", ".join(factor_words(*pair.split("=", 1)) for pair in variant.split(","))


def heading(column: str) -> str:
    """A column's name as a table's head shows it."""
    return WORDS.get(column, column.replace("_", " "))


def table_text(name: str) -> tuple[str, str]:
    """The title and the caption of a table of results/tables."""
    return TABLES.get(name, (f"Table {name.replace('_', ' ')}", f"The file results/tables/{name}.csv."))
