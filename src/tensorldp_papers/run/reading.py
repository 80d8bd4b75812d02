"""Reading YAML that a person has written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tensorldp.errors import InputError, shown

try:
    from yaml import CSafeLoader as SafeLoader  # several times as fast, and planning reads every study
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader  # type: ignore[assignment]


class _Loader(SafeLoader):
    """Refuses a key that stands twice: YAML forbids it, and PyYAML lets the last one win in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"{key.value} stands twice", key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path, what: str) -> Any:
    """The content of a YAML file.

    Args:
        path: the file.
        what: what it is, for messages.

    Raises:
        InputError: if it cannot be read, is no YAML or has a key twice, naming the line.
    """
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
