"""Snakemake that asks a cluster for its jobs' states twice a second: python impatient.py ARGUMENT ..."""

import asyncio

from snakemake.cli import main  # type: ignore[import-untyped]
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor  # type: ignore[import-untyped]


async def soon(_: RemoteExecutor) -> None:
    """Waits half a second, where the plug-in waits ten more each time that no job has ended."""
    await asyncio.sleep(0.5)


RemoteExecutor.sleep = soon
main()
