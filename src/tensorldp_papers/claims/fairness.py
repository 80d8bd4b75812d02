"""What stands for a source's run, and what makes a run of ours too weak to decide: one rule for the five sources.

A run stands for the source's if it has its network, its training records, its length and its settings. One that falls
short in any of these is weak: what holds of it supports a claim, with the shortfall as a condition, and what does not
hold of it decides nothing (`statements.Between.weak`). A shorter run still stands for the source's where its score had
stopped rising (`settled`). What a source does not say is no shortfall, but where it may change a result the claim says
so itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tensorldp_papers.claims.base import NotRun
from tensorldp_papers.claims.evidence import Evidence
from tensorldp_papers.claims.statements import AllOf, Alternative, AnyOf, Between, Statement, paired
from tensorldp_papers.run.cell import AnyCell, variant_factors

FLAT = 0.01  # a gain of accuracy in the second half of a training below which more of it is no help


@dataclass(frozen=True)
class Printed:
    """What a source says of its runs on one data set.

    Attributes:
        networks: the names, or the beginnings of the names, that its network has here; empty where any will do.
        records: its training records; 0 where it does not say.
        least: training settings with the least values that it has, such as how long it trains.
    """

    networks: tuple[str, ...] = ()
    records: int = 0
    least: Mapping[str, int] = field(default_factory=dict)


_MOBILENET = ("mobilenet_v2",)
PRINTED: dict[tuple[str, ...], Printed] = {  # by study and data set, and by network where the source has several
    # TLDP 5.1.1, Tables 2 to 4
    **{
        (study, dataset): Printed(_MOBILENET, records, {length: 10})
        for study, length in (("tldp_type1", "epochs"), ("tldp_type2", "epochs"), ("tldp_type3", "rounds"))
        for dataset, records in (("mnist", 60_000), ("cifar10", 50_000), ("svhn", 73_257))
    },
    ("tldp_type3", "imdb"): Printed(("bilstm",), 25_000, {"rounds": 50}),
    ("tldp_type3", "darknet"): Printed(("fcn",), 113_184, {"rounds": 25}),
    # TVG, Table II; it names no number of steps: 60 epochs on MNIST and Adult and 10 on Credit, as in its code
    ("tvg_sgd", "mnist"): Printed(("lenet",), 55_000, {"steps": 28_125}),
    ("tvg_sgd", "adult"): Printed(("mlp_12",), 32_561, {"steps": 7_631}),
    ("tvg_sgd", "credit"): Printed(("mlp_10",), 199_364, {"steps": 7_788}),
    # TVG, Table III
    **{
        (study, dataset): Printed((network,), records)
        for study in ("tvg_features", "tvg_testing")
        for dataset, network, records in (
            ("mnist", "lenet_tanh", 50_000),
            ("cifar10", "vgg16_tanh", 50_000),
            ("svhn", "alexnet_tanh", 73_257),
            ("imdb", "bilstm_tanh", 25_000),
        )
    },
    # PLDP-FL 6.1 and 6.2.2
    ("pldp_fl", "mnist"): Printed(("pldp_cnn",), 60_000, {"rounds": 50}),
    ("pldp_fl", "fashion_mnist"): Printed(("pldp_cnn",), 60_000, {"rounds": 50}),
    # LATENT 4.1.1 and Table 1
    ("latent", "mnist", "ann"): Printed((), 60_000, {"epochs": 50, "width": 64}),
    ("latent", "cifar10", "ann"): Printed((), 50_000, {"epochs": 100, "width": 256}),
    ("latent", "mnist", "cnn"): Printed((), 60_000, {"epochs": 12}),
    ("latent", "cifar10", "cnn"): Printed((), 50_000, {"epochs": 100}),
}
LENGTHS = ("epochs", "rounds", "steps")
DELTA = ("tldp_type2", "tldp_type3")  # where Tables 3 and 4 print Delta = 256 and tanh or clipping gives a range of 2
RANGE = "Delta = 2 and not the printed 256"
UNTRAINED = "features of an untrained network, of which the paper says nothing"


def is_papers(study: str, dataset: str, variant: str) -> bool:
    """Whether a variant's network is the source's; where the source has not that data set, none is."""
    printed = PRINTED.get((study, dataset))
    return printed is not None and _network(variant).startswith(printed.networks)


def _network(variant: str) -> str:
    factors = variant_factors(variant)
    return factors.get("backbone", factors.get("model", ""))


def shortfall(cells: Iterable[AnyCell], *, settled: bool = False) -> str:
    """How cells of one study and data set fall short of the source's run, in words; empty if they do not.

    Where several cells fall short in different degrees, the largest one is told.

    Args:
        cells: the cells.
        settled: whether their scores had stopped rising, so that a shorter training is no shortfall.
    """
    least: dict[str, tuple[float, str]] = {}
    name = ""
    for cell in cells:
        name = cell.dataset
        for kind, degree, text in _shortfalls(cell):
            if settled and kind in LENGTHS:
                continue
            if kind not in least or degree < least[kind][0]:
                least[kind] = (degree, text)
    return f"{name}: {', '.join(text for _, text in least.values())}" if least else ""


def _shortfalls(cell: AnyCell) -> Iterable[tuple[str, float, str]]:
    """What a cell lacks: of what kind, which share of the source's it has, and in words."""
    factors = variant_factors(cell.variant)
    if cell.study in DELTA and cell.private and "range" not in factors:
        yield "range", 0.0, RANGE
    if cell.study == "tvg_features":
        yield "body", 0.0, UNTRAINED
    network = _network(cell.variant)
    printed = PRINTED.get((cell.study, cell.dataset, network)) or PRINTED.get((cell.study, cell.dataset))
    if printed is None:
        return
    if network and printed.networks and not network.startswith(printed.networks):
        yield "network", 0.0, f"{network} in the place of {printed.networks[0]}"
    used = getattr(cell.training, "limit", None) or printed.records
    if used < printed.records:
        yield "records", used / printed.records, f"{used:,} of {printed.records:,} training records"
    for setting, least in printed.least.items():
        if (made := getattr(cell.training, setting)) < least:
            text = f"{made:,} of {least:,} {setting}"
            yield setting, made / least, text if setting in LENGTHS else f"a {setting} of {made:,}, not {least:,}"


def settled(evidence: Evidence, study: str, metric: str, **arm: Any) -> bool:
    """Whether a score rose by less than `FLAT` in the second half of an arm's training, on average over its epsilons.

    It did not, as far as one knows, where the score was not taken along the training.
    """
    rows = evidence.rows(study, **arm)
    try:
        marks = evidence.by_mark(rows, metric, "epoch")
    except NotRun:
        return False
    middle = marks.columns[(len(marks.columns) - 1) // 2]
    gain = paired(marks[marks.columns[-1]].tolist(), marks[middle].tolist())
    return len(marks.columns) > 1 and Between("gain", gain, high=FLAT).decide() is True


def weakly(statement: Statement, weak: str) -> Statement:
    """The statement with this weakness on each of its comparisons, beside what they have."""
    if not weak:
        return statement
    if isinstance(statement, Between):
        return replace(statement, weak="; ".join(filter(None, [statement.weak, weak])))
    if isinstance(statement, Alternative):
        return replace(statement, part=weakly(statement.part, weak))
    assert isinstance(statement, (AllOf, AnyOf))
    return replace(statement, parts=[weakly(part, weak) for part in statement.parts])
