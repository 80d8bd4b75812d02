"""privadjust: sketches of categories."""

from typing import Any

import pandas as pd
from kit import Package

package = Package("privadjust", "1.0.13", ("rich==14.0.0", "tabulate==0.9.0", "colorama==0.4.6", "optuna==4.3.0"))
SAYS: dict[str, Any] = {"epsilon": 1.0, "says": "epsilon: privacy parameter for the privatization process"}


@package.randomizer(
    "privateCMSClient, 8 hashes to 16", where="its docstring", categories=8, minutes=0.6, exact=1.0, **SAYS
)
def sketch() -> Any:
    from privadjust.count_mean.private_cms_client import privateCMSClient

    return privateCMSClient(1.0, 8, 16, pd.DataFrame({"value": range(8)})).client


@package.randomizer(
    "privateHCMSClient, 8 hashes to 16", where="its docstring", categories=8, minutes=0.6, exact=1.0, **SAYS
)
def hadamard_sketch() -> Any:
    from privadjust.hadamard_count_mean.private_hcms_client import privateHCMSClient

    return privateHCMSClient(1.0, 8, 16, pd.DataFrame({"value": range(8)})).client
