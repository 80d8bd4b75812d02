# Snakemake reads config.yaml itself, but says neither which file is wrong and where nor that a key occurs twice.
import os
import sys
from pathlib import Path

try:
    from tensorldp_papers.run.settings import read_config
    from tensorldp.errors import InputError
except ImportError as error:
    sys.exit(f"error: {error.name or error} is not installed here: run `make figures`, or `pip install -e '.[pipeline]'` first")

for folder in (".", "results", "resources", "logs"):
    if os.path.lexists(folder) and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        sys.exit(
            f"error: {Path.cwd() / folder} is no folder that can be written: make it one, "
            "or name another place with --directory"
        )

for path in {"config.yaml", *map(str, workflow.overwrite_configfiles)}:
    if Path(path).is_file():
        try:
            read_config(Path(path))
        except InputError as error:
            sys.exit(f"error: {error}")
