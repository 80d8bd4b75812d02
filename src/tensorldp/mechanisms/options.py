"""The options of a mechanism, read off the fields of its dataclass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import ClassVar

from torch import Tensor

from tensorldp.domain import Domain
from tensorldp.errors import shown, unknown


@dataclass(kw_only=True, eq=False, repr=False)
class Options:
    """What a class of mechanisms may be made with.

    Args:
        epsilon: nominal.
        domain: where records live.
    """

    name: ClassVar[str]

    epsilon: float
    domain: Domain
    given_domain: Domain = field(init=False)  # as it was given, where `domain` is what it was converted to

    @classmethod
    def options(cls) -> frozenset[str]:
        """The keyword options that it takes beyond epsilon, domain and delta."""
        return frozenset(f.name for f in fields(cls) if f.init) - {"epsilon", "domain", "delta"}

    @classmethod
    def check_options(cls, names: Iterable[str]) -> None:
        """Refuse what is not an option.

        Args:
            names: of the options that somebody wants to set.

        Raises:
            InputError: if one is unknown, naming the nearest.
        """
        for name in names:
            if name not in cls.options():
                raise unknown(f"option of {cls.name}", name, cls.options())

    def __repr__(self) -> str:
        """Name, epsilon, domain, and whatever differs from its default."""
        words = [f"epsilon={self.epsilon:g}", f"domain={self.given_domain}"]
        for f in fields(self):
            if f.init and f.name not in ("epsilon", "domain"):
                value = getattr(self, f.name)
                if isinstance(value, Tensor):
                    words.append(f"{f.name}=<tensor of shape {tuple(value.shape)}>")
                elif value != f.default:
                    words.append(f"{f.name}={shown(value)}")
        return f"{self.name}({', '.join(words)})"
