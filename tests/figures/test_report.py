"""The report shows every study, table and claim, needs no network and names what is missing."""

from __future__ import annotations

import base64
import gzip
import html
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest
from report_page import STUDIES, audits, claims, draw, metrics, page

from tensorldp.errors import InputError
from tensorldp_papers.claims.base import Verdict
from tensorldp_papers.plots import names
from tensorldp_papers.plots.names import VERDICTS, heading, metric_label, without_keys
from tensorldp_papers.plots.style import label
from tensorldp_papers.report.report import first_pictures
from tensorldp_papers.report.tables import as_table, audit_summary, numbers, run_statistics, series, verdict_counts
from tensorldp_papers.rooms import paper_of, papers
from tensorldp_papers.run.study import VIEWS, load_study, study_files

KEPT = Path(__file__).parents[2] / "results" / "reference" / "metrics.parquet"
pytestmark = pytest.mark.xdist_group("report")  # its tests share what is slow to make


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw(tmp_path_factory.mktemp("figures"))


@pytest.fixture(scope="module")
def text(figures: Path) -> str:
    return page(figures)


class Reader(HTMLParser):
    """The attributes of every element by tag; each that is opened is closed."""

    VOID = frozenset({"meta", "link", "img", "input", "br", "source"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, list[dict[str, str | None]]] = {}
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.setdefault(tag, []).append(dict(attrs))
        self.open += [] if tag in self.VOID else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(text: str) -> str:
    """The words of a page, without code and evidence."""
    quoted = r'(?s)<(script|style|code)\b.*?</\1>|<dd class="evidence">.*?</dd>|<[^>]+>'
    return html.unescape(re.sub(quoted, " ", text))


def test_the_page_has_every_figure_and_claim_and_asks_nothing_of_a_network(text: str) -> None:
    found = Reader(text).found
    pictures, phones = ([p for p in found[tag] if "data-packed" in p] for tag in ("img", "source"))
    assert (
        len(pictures)
        == len(phones)
        == len(STUDIES) * len(VIEWS) + len(names.privacy_captions()) + len(first_pictures())
    )
    assert all(p["alt"] and p["width"] == "830" for p in pictures)
    assert all(p["media"] == "(max-width: 860px)" and p["width"] == "360" for p in phones)
    for sheet in (*pictures[:2], *phones[:2]):
        assert gzip.decompress(base64.b64decode(str(sheet["data-packed"]))).startswith(b"<?xml")
    assert [row["id"] for row in found["tr"] if "data-verdict" in row] == [f"claim-{i}" for i in claims()["id"]]
    expected = r'data-packed="[^"]*|<a href="https://(doi|arxiv)\.org/[^"]*"|// .*'  # pictures, links, comments
    assert not re.search(r"https?:|//[a-z]|@import|url\(", re.sub(expected, "", text))
    assert "&lt;statement&gt; 0 &amp; more" in text
    assert len(text) < 6e6


def test_no_key_is_read_on_the_page(text: str, figures: Path) -> None:
    keys = [key for key in {*STUDIES, *study_files(), *names.DATASETS, *names.NETWORKS, *names.METRICS} if "_" in key]
    keyed = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, keys))})(?!\w)")
    factor = re.compile(r"\b(attack|backbone|model|where|reading|defence|eps|tau|learner|range|form)=[a-z]\w*")
    told = claims(5).assign(observed="needs tldp_type1 on fashion_mnist, model=small_cnn")
    rows = metrics().assign(variant="model=small_cnn,where=user", dataset="fashion_mnist")
    for made in (text, page(figures, claims=told, metrics=rows)):
        seen = read(made)
        assert not keyed.search(seen)
        assert not factor.search(seen)
    assert "needs TLDP Type I on Fashion-MNIST, small CNN" in seen
    assert without_keys("eps_1 = eps=1 of x_i") == "eps_1 = eps=1 of x_i"  # as papers write


def test_the_page_begins_with_a_picture_and_says_which_studies_it_covers(text: str, figures: Path) -> None:
    parts = ('alt="The epsilon that a paper', '<h2 id="findings"', 'alt="One image', '<h2 id="explore"')
    assert sorted(parts, key=text.index) == list(parts)
    less = (
        "“Frontier”, “Frontier, representations”, “LATENT, search”, “TLDP, networks of noise” and “TVG, learning rates”"
    )
    assert f"This run, on digits, has all studies but {less}." in read(text)
    narrow = page(figures, 1, metrics=metrics().assign(dataset="mine"))  # beside pictures of a wider run
    assert "This run, on mine, has “TLDP Type I”, of 16 studies." in read(narrow)
    assert "The epsilon that a paper" in narrow
    assert "One image, what is released" not in narrow
    assert "Your data, mine, by the method of Figure 1 of the source (section 5), which lacks them." in narrow


def test_a_small_run_shows_the_kept_picture_beside_its_own_and_says_how_to_get_it(figures: Path) -> None:
    words = "The same picture on real data"
    small = metrics().assign(scale="quick")
    assert words in (text := page(figures, metrics=small, kept=figures))
    assert "--config scale=desk" in text
    assert words not in page(figures, metrics=small)  # a package without kept figures
    assert words not in page(figures, metrics=small.assign(scale="desk"), kept=figures)


def test_verdicts_are_two_bars_with_links_to_their_claims(text: str) -> None:
    part = text[text.index('<h2 id="verdicts"') : text.index("The same counts by source")]
    assert part.count('class="bar"') == 2
    heads = ("<h3>42 theorems</h3>", "<h3>82 statements about runs</h3>", 'data-kind="theorem" data-verdict="refuted"')
    assert all(head in part for head in heads)
    undecided = text[text.index('<h2 id="open"') : text.index('<h2 id="claims"')]
    assert undecided.count("<tr>") == 1 + claims()["verdict"].isin(["undecided", "not run at this scale"]).sum()
    assert undecided.count("about 9 seeds") == 40
    assert "<dt>condition (restriction)</dt><dd>low noise only</dd>" in text


def test_links_lead_to_the_data_and_the_notebook_of_each_figure(text: str) -> None:
    targets = [str(link["href"]) for link in Reader(text).found["a"]]
    for study in STUDIES:
        assert targets.count(f"figures/{study}.csv") == targets.count(f"notebooks/{study}.ipynb") == len(VIEWS)
        assert targets.count(f"notebooks/{study}.html") == 1
    assert not [target for target in targets if target.startswith(("notebooks/epsilon", "/"))]
    assert {"claims.csv", "privacy/audits.csv", "tables/tldp_table5.csv", "tables/footnotes.csv"} <= set(targets)


def test_each_source_is_named_in_full_with_its_address(text: str) -> None:
    for source in papers().values():
        first = text.index(f"<strong>{source.short}</strong>: ")
        full = html.unescape(text[first : text.index("</li>", first)])
        assert re.sub("<[^>]*>", "", full).endswith(source.reference)
        assert (f'href="{source.address}"' in full) == bool(source.address)
    assert papers()["tldp"].address == "https://arxiv.org/abs/2502.18227"
    assert papers()["dp-lecture"].address == ""


def test_studies_and_tables_stand_with_their_paper(text: str, figures: Path) -> None:
    places = [text.index(f'<h2 id="paper-{key}">') for key in papers()]
    assert places == sorted(places)
    tvg = text[places[1] : places[2]]
    assert re.findall(r'<h3 id="([^"]+)"', tvg) == ["tvg_sgd", "tvg_features", "tvg_testing", "tvg_covariance"]
    assert 'id="table-tvg_table4"' in tvg
    assert text.index('id="privacy"') < text.index('id="table-footnotes"')
    own = page(figures, 0, claims=claims(5).assign(source="my-paper"))
    assert '<h2 id="paper-my-paper">my-paper</h2>' in own
    assert "No study of this source is in this run." in own
    assert list(dict.fromkeys(map(paper_of, STUDIES))) == ["tldp", "tvg", "pldp-fl", "latent", "dp-lecture"]
    study = load_study(study_files()["tldp_type1"])
    assert study.section == "tldp"
    assert study.model_copy(update={"paper": "mine"}).section == "mine"


def test_mistakes_are_named(figures: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is missing"):
        page(tmp_path, 1)
    (tmp_path / "tldp_type1.svg").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"tldp_type1\.svg is not a figure's SVG"):
        page(tmp_path, 1)
    with pytest.raises(InputError, match="no column evidence"):
        page(figures, 0, claims=claims().drop(columns="evidence"))
    with pytest.raises(InputError, match="'maybe' of a claim is not one of reproduced"):
        page(figures, 0, claims=claims().assign(verdict="maybe"))


@pytest.mark.parametrize("number", [1, 2])
def test_what_is_counted_agrees_with_its_number(figures: Path, number: int, tmp_path: Path) -> None:
    for path in (path for path in figures.glob("*.svg") if not path.name.startswith("epsilon")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    few = claims().groupby(["source", "verdict"]).head(number)
    made = page(tmp_path, 1, claims=few, tables={"footnotes": pd.DataFrame({"a": range(number)})})
    said = read(made) + " ".join(str(link.get("aria-label")) for link in Reader(made).found["a"])
    assert f"{number} hold{'s' if number == 1 else ''} with a condition" in said
    assert f"{number} row{'' if number == 1 else 's'}" in said
    assert not re.search(r"\b1 (claims|figures|tables|rows|hold)\b", said)
    assert not re.search(r"(?<![\d.,])([02-9]|[1-9]\d+) (claim|figure|table|row|holds)\b", said)
    assert "The epsilon that a paper" not in made  # a run without the first pictures has none


# the tables of the page


def test_verdicts_are_counted_by_paper_and_theorems_apart_from_runs() -> None:
    assert set(VERDICTS) == set(get_args(Verdict))
    rows = verdict_counts(claims(), list(papers()))
    by_paper, totals = ([row for row in rows if bool(row["key"]) == one] for one in (True, False))
    assert [sum(row["total"] for row in by_paper if row["key"] == key) for key in papers()] == [33] * 5
    counts = {v: sum(row["counts"][v] for row in totals) for v in VERDICTS}
    assert counts == {**dict.fromkeys(VERDICTS, 20), VERDICTS[0]: 25}
    for total in totals:
        mine = [row for row in by_paper if row["group"] == total["group"]]
        assert all(sum(row["counts"][v] for row in mine) == total["counts"][v] for v in VERDICTS)


def test_numbers_are_of_each_metric_over_seeds_and_those_by_round_are_left_to_the_data() -> None:
    first, second = numbers(metrics().query("study == 'tldp_type1'"))
    assert first.title == "Accuracy on clean test records (higher is better)"
    assert second.caption.endswith("Guarantees are for one whole record")
    assert "variant" not in first.heads
    laplace = next(row for row in first.rows if row[1] == "Laplace")
    assert laplace == ["digits", "Laplace", "0.1", "6.4", "0.375", "0.25", "0.5", "2"]
    rounds = metrics().query("metric == 'psnr'").assign(metric="accuracy_by_round", round=1)
    both = pd.concat([metrics().query("study == 'tldp_type2'"), rounds])
    assert [series(metrics()), series(both)] == [[], ["accuracy_by_round"]]
    assert [table.title for table in numbers(both)] == ["Weighted F1 on clean test records (higher is better)"]


def test_no_raw_key_of_a_metric_is_a_heading() -> None:
    for name in pd.read_parquet(KEPT, columns=["metric"])["metric"].unique():
        words = metric_label(str(name))
        assert not re.search(r"tpr|fpr|rss\b|_", words), name
    assert heading("canary_tpr_at_fpr_0.01") == "attack on canaries: true positives at 1 % false ones"
    assert metric_label("rss").endswith("(lower is better)")
    assert metric_label("some_new_metric") == "some new metric"


def test_tables_name_lines_as_figures_do_and_costs_and_audits_are_counted_once() -> None:
    named = pd.DataFrame({"variant": ["form=table5,model=small_cnn", "base"], "mechanism": "gaussian", "value": 1.0})
    assert [row[1] for row in as_table(named, "t").rows] == [label("gaussian form=table5"), label("gaussian")]
    table = as_table(pd.DataFrame({"mechanism": ["tldp-l"], "exact": [True], "guarantee_epsilon": [1.0]}), "t")
    assert (table.heads, table.numeric) == (["mechanism", "exact", "guaranteed ε at δ = 1e-5"], [False, False, True])
    assert table.rows == [["TLDP-L", "yes", "1"]]
    rows = {row[0]: row for row in run_statistics(metrics()).rows}
    assert rows["TLDP Type I"] == ["TLDP Type I", "28", "56", "0.02333", "1.5", "301", "cpu"]
    assert rows["all studies"][1:4] == [str(28 * 11), str(56 * 11), "0.2567"]
    assert audit_summary(audits()).rows == [["TLDP Type I", "2", "1", "0", "0.5"]]
    assert audit_summary(audits().assign(epsilon_lower=3.0)).rows == [["TLDP Type I", "2", "2", "2", "1.5"]]
