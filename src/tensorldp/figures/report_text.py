"""What the report calls its papers, metrics and tables; names that are not here stand for themselves."""

from __future__ import annotations

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

PRIVACY = {
    "privacy_profiles": "Privacy profiles of one release of 64 elements. A black arrow is an audit: epsilon is at "
    "least this, at 99 % confidence. An audit to the right of its profile would refute it.",
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
    "auc": ("area under the ROC curve", HIGHER),
    "rss": ("residual sum of squares", LOWER),
    "relative_error": ("relative error", LOWER),
    "mse": ("mean squared error", LOWER),
    "rmse": ("root mean squared error", LOWER),
    "psnr": ("peak signal-to-noise ratio of the reconstruction (dB)", ""),
    "ssim": ("structural similarity of the reconstruction", ""),
}

WORDS = {
    "epsilon": "nominal ε",
    "guarantee_epsilon": "guaranteed ε at δ = 1e-5",
    "dataset": "data set",
    "guarantee_pure_epsilon": "guaranteed pure ε",
    "guarantee_unit": "unit",
    "setting": "records",
}


def metric_label(name: str) -> str:
    """A metric in words, with its direction where it has one."""
    words, direction = METRICS.get(name, (name.replace("_", " "), ""))
    return f"{words} ({direction})" if direction else words


def heading(column: str) -> str:
    """A column's name as a table's head shows it."""
    return WORDS.get(column, column.replace("_", " "))


def table_text(name: str) -> tuple[str, str]:
    """The title and the caption of a table of results/tables."""
    return TABLES.get(name, (f"Table {name.replace('_', ' ')}", f"The file results/tables/{name}.csv."))
