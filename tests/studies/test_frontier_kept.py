"""The kept results of the study `frontier` against what it is held to: accuracy at a true epsilon."""

import pandas as pd
import pytest
from references import ROOT

REFERENCE = ROOT / "results" / "reference"
EPSILONS = (0.5, 1.0, 2.0, 4.0)
LEAST = {
    ("mnist", "backbone=strokes"): (0.88, 0.94, 0.955, 0.96),
    ("mnist", "backbone=strokes,private=record"): (0.62, 0.82, 0.90, 0.93),
    ("fashion_mnist", "backbone=gradients"): (0.68, 0.76, 0.79, 0.80),
    ("cifar10", "backbone=mobilenet_v2_96"): (0.62, 0.68, 0.72, 0.74),
}
CHANCE = {"mnist": 0.1, "fashion_mnist": 0.1, "cifar10": 0.1, "imdb": 0.5}


@pytest.fixture(scope="module")
def kept() -> pd.DataFrame:
    table = pd.read_parquet(REFERENCE / "metrics.parquet", filters=[("study", "==", "frontier")])
    return table[(table["metric"] == "accuracy") & (table["mechanism"] == "privunit")]


@pytest.mark.parametrize(("dataset", "variant"), list(LEAST))
def test_the_mean_of_five_seeds_is_what_is_asked(kept: pd.DataFrame, dataset: str, variant: str) -> None:
    rows = kept[(kept["dataset"] == dataset) & (kept["variant"] == variant)]
    for epsilon, least in zip(EPSILONS, LEAST[dataset, variant], strict=True):
        found = rows[rows["epsilon"] == epsilon]
        assert sorted(found["seed"]) == [0, 1, 2, 3, 4]
        assert found["guarantee_pure_epsilon"].tolist() == pytest.approx([epsilon] * 5)
        assert found["value"].mean() >= least, (dataset, variant, epsilon)


def test_with_shuffled_labels_the_same_pipeline_learns_nothing(kept: pd.DataFrame) -> None:
    shuffled = kept[kept["variant"].str.contains("control=shuffled")]
    means = shuffled.groupby("dataset", observed=True)["value"].mean()
    assert set(means.index) == set(CHANCE)
    assert all(abs(mean - CHANCE[str(dataset)]) < 0.06 for dataset, mean in means.items())


def test_no_audit_refutes_a_guarantee() -> None:
    audits = pd.read_csv(REFERENCE / "audits.csv")
    own = audits[audits["study"] == "frontier"]
    assert len(own) > 50
    assert not own["refuted"].astype(bool).any()
    pure = own[(own["mechanism"] == "privunit") & (own["delta"] == 0.0) & (own["kind"] == "likelihood ratio")]
    assert (pure["epsilon_lower"] <= pure["guarantee_pure_epsilon"] + 1e-9).mean() > 0.9  # each at confidence 95 %
