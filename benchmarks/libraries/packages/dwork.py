"""dwork: queries of tables."""

from typing import Any

from kit import Package

package = Package("dwork", "0.0.13")
SAYS: dict[str, Any] = {"epsilon": 1.0, "says": "privacy factor epsilon", "where": "README"}
NOTE = "its randomness comes from the operating system: another number in each run"


@package.randomizer("language.types.Float.dp", exact=1.0, note=NOTE, **SAYS)
def number() -> Any:
    from dwork.language.types import Float

    return lambda x: Float(-1e9, 1e9).dp(x, 1.0, 1.0)


@package.randomizer("language.types.Integer.dp", categories=2, exact=1.0, note=NOTE, **SAYS)
def whole() -> Any:
    from dwork.language.types import Integer

    return lambda x: Integer().dp(x, 1, 1.0)
