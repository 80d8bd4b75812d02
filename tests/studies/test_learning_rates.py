"""Of each mechanism the rate with the best held-out accuracy, and of equal ones the smallest."""

import pandas as pd
from kept_runs import REFERENCE, ROOT, planned

from tensorldp_papers.papers.tvg.learning_rates import learning_rates
from tensorldp_papers.run.held_out import METRIC


def table(scores: dict[str, dict[float, list[float]]]) -> pd.DataFrame:
    """Accuracies by mechanism and rate, one a seed."""
    rows = [
        {
            "dataset": "mnist",
            "mechanism": name,
            "variant": f"learning_rate={rate:g},model=lenet",
            "epsilon": 10.0,
            "seed": seed,
            "metric": METRIC,
            "value": value,
        }
        for name, rates in scores.items()
        for rate, values in rates.items()
        for seed, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def chosen(scores: dict[str, dict[float, list[float]]]) -> dict[str, float]:
    found = learning_rates(table(scores))
    return dict(found[found["chosen"]].set_index("mechanism")["learning_rate"])


def test_each_mechanism_has_the_rate_with_the_highest_mean_of_its_own() -> None:
    assert chosen({"idn": {4: [0.6, 0.7], 15: [0.9, 0.2]}, "udn": {4: [0.1, 0.1], 15: [0.3, 0.3]}}) == {
        "idn": 4,
        "udn": 15,
    }


def test_of_rates_that_are_alike_the_smallest_is_taken() -> None:
    assert chosen({"idn": {60: [0.9], 15: [0.896], 4: [0.894], 1: [0.5]}}) == {"idn": 15}


def test_a_rate_without_all_of_the_runs_does_not_count() -> None:
    assert chosen({"idn": {60: [0.9], 15: [0.8, 0.7]}}) == {"idn": 15}


def test_test_records_have_no_part_in_it() -> None:
    rows = table({"idn": {4: [0.6], 15: [0.5]}})
    other = rows.assign(metric="accuracy", value=1 - rows["value"])
    assert learning_rates(pd.concat([rows, other])).equals(learning_rates(rows))


def kept_choices() -> pd.DataFrame:
    search = pd.read_parquet(REFERENCE / "metrics.parquet", filters=[("study", "==", "tvg_sgd_search")])
    return learning_rates(search)


def test_the_study_trains_each_mechanism_at_the_rate_that_the_kept_search_chooses() -> None:
    found = kept_choices()
    cells = planned(scale="desk", studies=["tvg_sgd"])
    rates = {c.mechanism: c.training.model_dump()["learning_rate"] for c in cells if c.variant == "model=lenet_wide"}
    chosen = dict(found[found["chosen"]].set_index("mechanism")["learning_rate"])
    assert rates == {name: chosen[name] for name in ("none", "gaussian", "optimized", "idn", "udn", "mvg")}


def test_the_table_of_the_decision_is_that_of_the_kept_search() -> None:
    text = (ROOT / "docs" / "decisions" / "learning-rates.csv").read_text()
    assert text == kept_choices().round({METRIC: 4}).to_csv(index=False)
