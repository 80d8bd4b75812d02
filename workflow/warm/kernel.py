"""The kernel of a notebook, in a worker of the warm server: python kernel.py -f CONNECTION_FILE

It ends when the process that wants it does; ipykernel itself looks only at its parent, which is the warm server.
"""

from __future__ import annotations

import os
import sys
import threading
import time


def follow(process: int) -> None:
    """End this process once another is gone."""
    while True:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            os._exit(1)
        time.sleep(1.0)


if __name__ == "__main__":
    if process := int(os.environ.get("JPY_PARENT_PID") or 0):
        threading.Thread(target=follow, args=(process,), daemon=True).start()
    if "matplotlib" in sys.modules:  # a library that is there already has not seen this process's environment
        import matplotlib

        matplotlib.use(os.environ.get("MPLBACKEND") or "module://matplotlib_inline.backend_inline")
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance(parent_handle=process)  # ipykernel read the variable when it was imported
