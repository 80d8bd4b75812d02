"""The tables that every figure, claim and reader starts from: one value a metric, and series of values."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from tensorldp.deltas import PROFILE_DELTAS
from tensorldp.errors import InputError, described
from tensorldp.files import replacing
from tensorldp_papers.run.sealed import check_file, seal_file

KEY = ["study", "dataset", "variant", "release", "mechanism", "epsilon", "delta", "seed", "metric"]
GUARANTEE = [
    "guarantee_unit",
    "guarantee_epsilon",
    "guarantee_delta",
    "guarantee_pure_epsilon",
    "guarantee_atom",
    "guarantee_exact",
]
RUN = KEY[:-1]  # a cell and a seed
TEXTS = [*KEY[:5], "metric", "guarantee_unit", "scale", "device", "isa", "precision", "commit"]
COLUMNS = [*KEY, "value", *GUARANTEE, "scale", "seconds", "peak_mb", "device", "isa", "precision", "commit"]
NUMBERS = ["delta", "value", "seconds", "peak_mb"]  # floats, even if all are whole
SERIES = ["round", "epoch", "client"]  # which value of a series a row is
SERIES_COLUMNS = [*RUN, *SERIES, "metric", "value"]
CELL = ["study", "dataset", "variant", "mechanism", "epsilon"]
PROFILE = {delta: f"epsilon_at_{delta:g}" for delta in (0.0, *PROFILE_DELTAS)}
PROFILE_COLUMNS = [*CELL, "unit", "exact", "atom", "pure_epsilon", *PROFILE.values(), "note"]
Cells = list[tuple[dict[str, Any], dict[str, Any]]]  # for each cell what `evaluate` and `guarantee` wrote


def metrics_table(cells: Cells, scale: str) -> pd.DataFrame:
    """Tabulates metrics, one row per (study, dataset, variant, mechanism, epsilon, seed, metric), sorted by that key.

    Returns:
        The columns `COLUMNS`. `epsilon` and the guarantee's numbers are floats, infinite where there is none.
        `guarantee_pure_epsilon` is with the atom removed, whose mass is `guarantee_atom`. `seconds` and `peak_mb` are
        of the training of the seed.
    """
    rows = all_rows(cells, scale)
    table = rows.loc[rows[SERIES].isna().all(axis=1), COLUMNS].reset_index(drop=True)
    twice = table[table.duplicated(KEY)]
    if not twice.empty:
        first = twice.iloc[0]
        raise InputError(
            f"a cell of {first['study']} with {first['mechanism']} has two values of {first['metric']} for seed "
            f"{first['seed']}: rows of a series need a {', '.join(SERIES[:-1])} or {SERIES[-1]}"
        )
    return table


def series_table(cells: Cells) -> pd.DataFrame:
    """Tabulates the metrics that a run has many of: one row per metric and its round, epoch or client.

    Returns:
        The columns `SERIES_COLUMNS`, sorted; those of round, epoch and client that do not apply are empty.
    """
    rows = all_rows(cells, "")
    return rows.loc[rows[SERIES].notna().any(axis=1), SERIES_COLUMNS].reset_index(drop=True)


def with_series(metrics: pd.DataFrame, series: pd.DataFrame) -> pd.DataFrame:
    """Joins both tables to one, as `all_rows`: a series' rows have the guarantee and the costs of their run."""
    runs = metrics.drop_duplicates(RUN).drop(columns=["metric", "value"])
    rows = series.merge(runs, on=RUN, validate="many_to_one")
    single = metrics.assign(**{key: pd.array([pd.NA] * len(metrics), dtype="Int64") for key in SERIES})
    rows, kinds = rows[single.columns], {}
    for column in metrics.columns[metrics.dtypes == "category"]:
        texts = {*single[column].cat.categories, *rows[column].dropna().unique()}
        kinds[column] = pd.CategoricalDtype(sorted(texts), ordered=True)  # sorted as texts are
    both = [table.astype(kinds) for table in (single, rows) if len(table)] or [single]
    return pd.concat(both).sort_values([*KEY, *SERIES], ignore_index=True)


def read_table(
    path: Path,
    studies: Collection[str] = (),
    *,
    columns: list[str] | None = None,
    compact: bool = False,
    **options: Any,
) -> pd.DataFrame:
    """Reads a table of results, Parquet or CSV as its name says.

    Args:
        path: the file.
        studies: of a Parquet file, only the rows of these, if there are any.
        columns: of a Parquet file, only these.
        compact: read texts of a Parquet file as categories, as millions of rows have few.
        options: of a CSV file, those of `pandas.read_csv`.

    Raises:
        InputError: if it is missing or damaged, or is not what `write_table` wrote there.
    """
    with _readable(path):
        if path.suffix == ".parquet":
            return _read_parquet(path, studies, columns, compact=compact)
        table: pd.DataFrame = pd.read_csv(path, **options)
        return table


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Says in one sentence what is wrong with a table that is read; errors as of `read_table`."""
    try:
        check_file(path)
        yield
    except FileNotFoundError:
        raise InputError(f"the table {path} is missing: run again") from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"the table {path} cannot be read ({described(error)}): delete it, or restore a kept one, and run again"
        ) from None


def _read_parquet(path: Path, studies: Collection[str], columns: list[str] | None, *, compact: bool) -> pd.DataFrame:
    """Reads the row groups that may have rows of the studies alone: pandas would take several times the memory."""
    texts = [name for name in pq.read_schema(path).names if compact and name in TEXTS]
    with pq.ParquetFile(path, read_dictionary=texts) as source:
        groups = [i for i in range(source.num_row_groups) if not studies or _may_have(source, i, studies)]
        table = source.read_row_groups(groups, columns=columns)
    if studies and not {*table["study"].unique().to_pylist()} <= {*studies}:
        table = table.filter(pc.field("study").isin([*studies]))
    kinds = dict.fromkeys((pa.string(), pa.large_string()), pd.StringDtype(na_value=np.nan))
    # in blocks of one kind, as columns that are not copied could not be written to
    found: pd.DataFrame = table.to_pandas(types_mapper=kinds.get, self_destruct=True)
    return found


def _may_have(source: pq.ParquetFile, group: int, studies: Collection[str]) -> bool:
    """Returns whether a row group may have rows of these studies."""
    known = source.metadata.row_group(group).column(source.schema_arrow.get_field_index("study")).statistics
    return known is None or not known.has_min_max or any(known.min <= study <= known.max for study in studies)


def write_table(path: Path, table: pd.DataFrame, *, sealed: bool = True) -> None:
    """Writes a table, Parquet or CSV as its name says, whole or not at all.

    Args:
        path: the file.
        table: its rows.
        sealed: write its seal beside it; the kept results, which Git keeps, have none.
    """
    with replacing(path) as temporary:
        (table.to_csv if path.suffix == ".csv" else table.to_parquet)(temporary, index=False)
    if sealed:
        seal_file(path)


def read_rows(path: Path, studies: Collection[str] = (), *, compact: bool = False) -> pd.DataFrame:
    """Reads the metrics table, or its rows of some studies, with those of the series table if that lies beside it."""
    metrics, beside = read_table(path, studies, compact=compact), path.with_name("series.parquet")
    return with_series(metrics, read_table(beside, studies, compact=compact)) if beside.exists() else metrics


def all_rows(cells: Cells, scale: str) -> pd.DataFrame:
    """Tabulates the metrics and the series of cells together, with nullable columns round, epoch and client."""
    if not cells:
        raise InputError("there are no cells to collect: choose at least one study")
    rows = []
    for metrics, guarantee in cells:
        try:
            cell = metrics["cell"]
            shared = {key: cell[key] for key in ("study", "dataset", "variant", "release", "mechanism", "delta")}
            shared["epsilon"] = float(cell["epsilon"])
            for key in GUARANTEE:
                value = guarantee[key.removeprefix("guarantee_")]
                shared[key] = float(value) if key.endswith(("epsilon", "atom", "delta")) else value
            for row in metrics["rows"]:
                run = metrics["runs"][str(row["seed"])]
                rows.append(
                    {
                        **shared,
                        **row,
                        "scale": scale,
                        "seconds": run["seconds"],
                        "peak_mb": run["peak_mb"],
                        "device": run["device"],
                        "isa": run.get("isa", ""),
                        "precision": run.get("precision", "float32"),
                        "commit": run["commit"],
                    }
                )
        except KeyError as error:
            raise InputError(f"the metrics of a cell lack {error}: delete the file and run again") from None
    table = pd.DataFrame(rows, columns=[*COLUMNS, *SERIES])
    table = table.astype({**dict.fromkeys(SERIES, "Int64"), **dict.fromkeys(NUMBERS, float)})
    return table.sort_values([*KEY, *SERIES], ignore_index=True)


def guarantees_table(cells: Cells) -> pd.DataFrame:
    """Tabulates, one row per cell, what it guarantees at every delta that is kept, sorted by cell.

    Returns:
        The columns `PROFILE_COLUMNS`; epsilons in nats, infinite where there is none, empty where a method keeps no
        profile.
    """
    rows = []
    for metrics, guarantee in cells:
        cell, profile = metrics["cell"], guarantee.get("profile", {})
        row = {key: cell[key] for key in CELL} | {key: guarantee.get(key, "") for key in ("unit", "exact", "note")}
        row |= {key: float(value) for key, value in (("epsilon", cell["epsilon"]), ("atom", guarantee["atom"]))}
        row["pure_epsilon"] = float(guarantee["pure_epsilon"])
        row |= {column: float(profile.get(f"{delta:g}", "nan")) for delta, column in PROFILE.items()}
        rows.append(row)
    return pd.DataFrame(rows, columns=PROFILE_COLUMNS).sort_values(CELL, ignore_index=True)


def join_tables(paths: Sequence[Path], out: Path) -> None:
    """Writes the rows of Parquet or CSV files of the same columns in their order, reading some at a time."""
    with replacing(out) as temporary:
        (_join_csv if out.suffix == ".csv" else _join_parquet)(paths, temporary)
    seal_file(out)


def _join_csv(paths: Sequence[Path], out: Path) -> None:
    with out.open("wb") as joint:
        for i, path in enumerate(paths):
            with _readable(path), path.open("rb") as source:
                names = source.readline()
                joint.write(b"" if i else names)
                shutil.copyfileobj(source, joint)


def _join_parquet(paths: Sequence[Path], out: Path) -> None:
    kinds, full = {}, []
    for path in paths:
        with _readable(path), pq.ParquetFile(path) as source:
            kinds[path] = source.schema_arrow
            full += [path] if source.metadata.num_rows else []  # an empty one has no types to tell
    used = full or paths[:1]
    kind = pa.unify_schemas([kinds[path] for path in used], promote_options="permissive")
    with pq.ParquetWriter(out, kind) as joint:
        for path in used:
            with pq.ParquetFile(path) as source:
                for group in range(source.num_row_groups):
                    joint.write_table(source.read_row_group(group).cast(kind))


def joined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Joins the rows of tables of the same columns in their order."""
    full = [table for table in tables if not table.empty]  # an empty one has no types to tell
    return pd.concat(full, ignore_index=True) if full else tables[0]
