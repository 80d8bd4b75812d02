"""privadjust: sketches of categories."""

from typing import Any

import numpy as np
from kit import Package

package = Package("privadjust", "1.0.13", ("rich==14.0.0", "tabulate==0.9.0", "colorama==0.4.6", "optuna==4.3.0"))
SAYS: dict[str, Any] = {"epsilon": 1.0, "says": "epsilon: privacy parameter for the privatization process"}


@package.randomizer("privateCMSClient, 8 hashes to 16", where="its docstring", categories=8, exact=1.0, **SAYS)
def sketch() -> Any:
    import pandas as pd
    from privadjust.count_mean.private_cms_client import privateCMSClient

    client = privateCMSClient(1.0, 8, 16, pd.DataFrame({"value": range(8)}))
    return lambda x: np.append(*client.client(x))


@package.randomizer("privateHCMSClient, 8 hashes to 16", where="its docstring", categories=8, exact=1.0, **SAYS)
def hadamard_sketch() -> Any:
    import pandas as pd
    from privadjust.hadamard_count_mean.private_hcms_client import privateHCMSClient

    return privateHCMSClient(1.0, 8, 16, pd.DataFrame({"value": range(8)})).client
