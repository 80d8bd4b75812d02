"""JSON Schema of config.yaml and of the studies, generated from the typed models."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel

from tensorldp_papers.run.settings import Settings
from tensorldp_papers.run.study import Study

MODELS: dict[str, type[BaseModel]] = {"config": Settings, "study": Study}


def schema_text(name: str) -> str:
    """Returns the schema of `config` or `study` as the text of its file."""
    return json.dumps(MODELS[name].model_json_schema(), indent=2, sort_keys=True) + "\n"


def write_schemas(folder: Path) -> None:
    """Writes config.schema.json and study.schema.json into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        (folder / f"{name}.schema.json").write_text(schema_text(name))


if __name__ == "__main__":
    write_schemas(Path("workflow/schemas"))
