"""Run Snakemake and show how far it is: `make figures`. Its whole log is in .snakemake/log, and here with --verbose."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil
from view import View

from tensorldp.config.reading import read_yaml
from tensorldp.errors import InputError

# what is asked of these is Snakemake's own text
PLAIN = {
    "-n",
    "--dry-run",
    "--dryrun",
    "--verbose",
    "-h",
    "--help",
    "--unlock",
    "--lint",
    "--list",
    "--summary",
    "--dag",
}
PLANNED = Path(".snakemake", "planned.json")  # steps by study, which workflow/main.smk writes where asked to
LOCKS = Path(".snakemake", "locks")


def holders(folder: Path) -> list[int]:
    """The processes of Snakemake that run in a folder."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline"]):
        words = process.info["cmdline"] or []
        try:
            ours = any("snakemake" in Path(word).name for word in words[:3]) and Path(process.cwd()) == folder
        except (psutil.Error, OSError):
            continue
        if ours and process.pid != os.getpid():
            found.append(process.pid)
    return found


def unlock(snakemake: str) -> None:
    """Free the folder if a run that was killed left it locked and no run is at work in it."""
    if LOCKS.is_dir() and any(LOCKS.iterdir()) and not holders(Path.cwd()):
        print("An earlier run was killed and left this folder locked; no run is at work in it: unlocking it.")
        subprocess.run([snakemake, "--unlock"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def command(arguments: list[str]) -> str:
    """The `make figures` that runs Snakemake with these arguments, but for how many cores it takes."""
    own = arguments[2:] if arguments[:1] == ["--cores"] else arguments
    return f"make figures ARGS={shlex.quote(shlex.join(own).replace('$', '$$'))}" if own else "make figures"


def main(arguments: list[str]) -> int:
    """Run Snakemake with these arguments; returns its exit status, 130 after Ctrl-C."""
    snakemake = str(Path(sys.executable).with_name("snakemake"))
    for word in arguments:  # Snakemake reads files after --configfile before the workflow can look at them
        path = Path(word.partition("=")[2] or word)
        if path.suffix in (".yaml", ".yml") and path.is_file():
            try:
                read_yaml(path, "the config file")
            except InputError as error:
                print(f"error: {error}", file=sys.stderr)
                return 1
    unlock(snakemake)
    if PLAIN & set(arguments):
        os.execv(snakemake, [snakemake, *arguments])
    PLANNED.unlink(missing_ok=True)

    def planned() -> dict[str, int]:
        return dict(json.loads(PLANNED.read_text())) if PLANNED.is_file() else {}

    view = View(sys.stderr, live=sys.stderr.isatty(), planned=planned)
    print("Planning. Snakemake's whole log is written to .snakemake/log.", file=sys.stderr, flush=True)
    child = subprocess.Popen(
        [snakemake, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, "TENSORLDP_PLANNED": str(PLANNED), "TENSORLDP_COMMAND": command(arguments)},
    )

    def stop(number: int, frame: object) -> None:
        view.stopped = True  # the terminal has sent the signal to Snakemake too, which ends its jobs

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, lambda number, frame: child.terminate())
    assert child.stderr is not None
    for line in child.stderr:
        view.feed(line.rstrip("\n"))
    status = child.wait()
    view.clear()
    if view.stopped:
        print(f"Stopped; what is done is kept. To go on: {command(arguments)}", file=sys.stderr)
        return 130
    if status < 0:
        print(
            f"error: the run was killed by signal {-status}, for want of memory unless somebody did it; what is done "
            f"is kept. To go on: {command(arguments)}",
            file=sys.stderr,
        )
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
