"""What the JSON of verdicts and cards has to be like."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource


def schema_of(package: str, name: str) -> dict[str, Any]:
    """A schema that a package ships."""
    found: dict[str, Any] = json.loads(files(package).joinpath(name).read_text(encoding="utf-8"))
    return found


VERDICT = schema_of("tensorldp.check", "verdict.schema.json")
CARD = schema_of("tensorldp_papers.card", "card.schema.json")
REGISTRY: Any = Registry().with_resources([(one["$id"], Resource.from_contents(one)) for one in (VERDICT, CARD)])


def misfits(found: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    """What of a JSON object is not as its schema says."""
    errors = Draft202012Validator(schema, registry=REGISTRY).iter_errors(found)
    return [f"{error.json_path}: {error.message[:300]}" for error in errors]
