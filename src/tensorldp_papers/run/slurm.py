"""What SLURM says of a job that failed, and what helps; the wording that is read is that of Snakemake's plugin."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STATUS = re.compile(r"SLURM-job '([^']+)' failed.*?(?:SLURM status is:\s*'(\w+)'|$)", re.DOTALL)
REASON = re.compile(r"Reasons?: (.+?)\.(?:For further|\s|$)")
REFUSED = re.compile(r"sbatch failed.*?The error message was '(.*?)'\.\n", re.DOTALL)
NOT_SUBMITTED = re.compile(r"ob submission failed with exception: (.*?)(?:For further error details|$)", re.DOTALL)
OWN_WORDS = re.compile(r"^(?:slurmstepd|slurmd|srun)\S*: (?:error: )?(.+)$", re.MULTILINE)  # in the log of a job
STANDS_FOR = (  # words of SLURM, what happened, and the resource that helps
    (r"OUT_OF_MEMORY|exceeded (?:job )?memory limit|oom.?kill", "ran out of memory", "mem_mb"),
    (r"TIMEOUT|DEADLINE|DUE TO TIME LIMIT", "ran out of time", "runtime"),
    (r"NODE_FAIL|BOOT_FAIL|NODE FAILURE", "lost its node", ""),
    (r"PREEMPTED|DUE TO PREEMPTION", "was preempted", ""),
)
REFUSALS = (  # words of sbatch, and what helps
    (r"account", "set slurm_account in the profile's default-resources"),
    (r"partition", "set slurm_partition in the profile's default-resources"),
    (r"\bqos\b", "give one that you may use with --slurm-qos"),
    (r"time limit", "lower {rule}:runtime with --set-resources, or name a partition that has more"),
    (
        r"memory|node configuration|gres|cpu",
        "lower that with --set-resources, as in {rule}:mem_mb=2000, or name a partition that has it",
    ),
)
# accounts and partitions are texts, whatever they look like; quotes keep them so after = alone: YAML takes off others
ALTERED = re.compile(r"\b(slurm_account|slurm_partition)(?:(=)|(?::\s*[\"']?))([0-9][\w.+]*)")


def refusal(rule: str, message: str, resources: Mapping[str, Any]) -> str:
    """Returns why sbatch refused a job and what helps; empty if it did not."""
    found = REFUSED.search(message) or NOT_SUBMITTED.search(message)
    if not found:
        return ""
    lines = [line.removeprefix("sbatch: error: ").strip() for line in found[1].strip().splitlines()]
    words = "; ".join(lines).replace(":; ", ": ").removesuffix(".")
    asked = ", ".join(f"{key}={resources[key]}" for key in ("mem_mb", "runtime", "gpu") if resources.get(key))
    remedy = next((text for words_of, text in REFUSALS if re.search(words_of, words, re.IGNORECASE)), "")
    return (
        f"was refused by SLURM: {words}"
        + (f" (it asks for {asked})" if asked else "")
        + (f"; {remedy.format(rule=rule)}" if remedy else "")
    )


def end(rule: str, message: str, log: str, resources: Mapping[str, Any]) -> str:
    """Returns what SLURM itself did to a job and what helps; empty if the job ended by itself.

    Args:
        rule: of the job.
        message: what the plugin said of it.
        log: SLURM's log of it.
        resources: what it asked for.
    """
    job, status, reason = said(message)
    words = "\n".join([status, reason, *OWN_WORDS.findall(log)])
    for pattern, happened, resource in STANDS_FOR:
        if not (found := re.search(pattern, words, re.IGNORECASE)):
            continue
        own = next(line for line in words.splitlines() if found[0] in line)
        told = f"{happened}, as SLURM says of job {job or '?'}: {own.strip('* .')}"
        if not resource:
            return f"{told}; run again"
        had = resources.get(resource)
        more = 2 * had if isinstance(had, int) else "N"
        unit = {"mem_mb": "MB", "runtime": "minutes"}[resource]
        return (
            f"{told}; give it more than {had if had is not None else 'it has'} {unit}, as in --set-resources "
            f"{rule}:{resource}={more} or under set-resources in the profile"
        )
    return f"was cancelled in SLURM, where it is job {job}; run again" if status == "CANCELLED" else ""


def said(message: str) -> tuple[str, str, str]:
    """Returns the number of a job, its status and the reason, as far as the plugin told them."""
    found, why = STATUS.search(message), REASON.search(message)
    reason = why[1] if why and why[1] != "Unknown" else ""
    return (found[1], found[2] or "", reason) if found else ("", "", "")


def altered(text: str) -> list[str]:
    """Returns a warning for each account or partition that Snakemake takes for a number: 012345 is sent as 12345.

    They are looked for in a profile or a command line, as it was typed.
    """
    found = []
    for line in (line.partition("#")[0] for line in text.splitlines()):
        for name, mark, value in ALTERED.findall(line):
            sent = _number(value)
            if sent not in ("", value):
                right = f"{name}='{value}'" if mark == "=" else f"{name}: \"'{value}'\""
                found.append(
                    f"warning: {name} {value} looks like a number, and Snakemake would send {sent} to SLURM: write "
                    f"{right}, with these quotes"
                )
    return list(dict.fromkeys(found))


def _number(text: str) -> str:
    """Returns a text as SLURM would get it if it is a number of Python's, empty if it is none."""
    try:
        number = float(text)
    except ValueError:
        return ""
    return str(int(number)) if number.is_integer() else str(number)


def typed(arguments: Sequence[str]) -> str:
    """Returns a command line of Snakemake, and the profiles that it names, as they were typed."""
    words = [word for argument in arguments for word in argument.split("=", 1 if argument.startswith("--") else 0)]
    folders = [Path(value) for key, value in itertools.pairwise(words) if key in ("--profile", "--workflow-profile")]
    profiles = [path.read_text(errors="replace") for folder in folders for path in sorted(folder.glob("*.yaml"))]
    return "\n".join([" ".join(arguments), *profiles])
