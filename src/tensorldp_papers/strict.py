"""Reading YAML that a person has written: what is not known is refused, with one sentence on what is allowed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from tensorldp.errors import InputError, shown, unknown

try:
    from yaml import CSafeLoader as SafeLoader  # several times as fast, and planning reads every study
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader  # type: ignore[assignment]


class _Loader(SafeLoader):
    """Refuses what PyYAML takes in silence for something else: a key that occurs twice, 010 for 8, 1:30 for 90."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"{key.value} occurs twice", key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        """Reads a number as people write it."""
        text = node.value
        if re.match(r"[-+]?0[0-9_]", text) or re.search(r"[:box]", text):
            told = f"{text} is another number in YAML: write a number without zeros before it, or a text in quotes"
            raise yaml.constructor.ConstructorError(None, None, told, node.start_mark)
        whole = node.tag.endswith("int")
        return self.construct_yaml_int(node) if whole else self.construct_yaml_float(node)


for _tag in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _Loader.construct_number)


def read_yaml(path: Path, what: str) -> Any:
    """Reads the content of a YAML file; messages call it `what`."""
    try:
        content = path.read_bytes()
    except OSError:
        raise InputError(f"{what} {path} cannot be read") from None
    try:
        loader = _Loader(content.decode())
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{what} {path} is not UTF-8 text at line {number}: save it as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        line = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{what} {path} is not valid YAML{line}: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{what} {path} is not valid YAML: {shown(str(error).splitlines()[0])}") from None


def short(name: str) -> str:
    """Returns a name as it is, or its beginning where it could not be read in a message."""
    return name if len(repr(name)) <= 80 else f"{name[: 20 if name[:20].isprintable() else 6]} ..."


class Closed(BaseModel):
    """A model that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Strict(Closed):
    """A model that also does not turn text into numbers, or a list into a tuple."""

    model_config = ConfigDict(strict=True)


UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def first_problem(error: ValidationError) -> Any:
    """Returns the problem to tell: a key that is unknown, which may be why another one is missing, else the first."""
    return min(error.errors(), key=lambda problem: problem["type"] not in UNKNOWN)


def explain(error: ValidationError, where: str, allowed: dict[str, Any] | None = None) -> InputError:
    """Tells one problem of a pydantic error in one sentence that names the key, the value and what is allowed."""
    first = first_problem(error)
    key = ".".join(str(part) for part in first["loc"]) or "(whole file)"
    if first["type"] in UNKNOWN:
        *inside, last = map(str, first["loc"])
        return unknown(f"key in {' '.join([where, *filter(None, ['.'.join(inside)])])}", short(last), allowed or {})
    key = key if key.isprintable() and len(key) <= 80 else shown(key)[1:-1]
    if first["type"] == "missing":
        return InputError(f"{where}: {key} is missing")
    message = str(first["ctx"]["error"]) if first["type"] == "value_error" else first["msg"]
    message = message.removeprefix("Value error, ")
    if first["type"] == "too_short" and first["ctx"]["min_length"] == 1:
        message = "list at least one"
    if first["type"] == "too_long":
        message = f"list at most {first['ctx']['max_length']}"
    if first["type"] == "list_type" and isinstance(first["input"], (int, float, str)):
        text = str(first["input"])
        message = f"Input should be a list, [{text if text.isprintable() and len(text) <= 80 else shown(text)}]"
    return InputError(f"{where}: {key} = {shown(first['input'])} is not valid: {message[0].lower() + message[1:]}")
