# Snakemake reads config.yaml itself, but says neither which file is wrong and where nor that a key occurs twice.
import os
import sys
from pathlib import Path

try:
    from tensorldp_papers.run.settings import read_config
    from tensorldp.errors import InputError
except ImportError as error:
    sys.exit(f"error: {error.name or error} is not installed here: run `make figures`, or `pip install -e '.[pipeline]'` first")

if not os.access(".", os.W_OK):
    sys.exit(f"error: the folder {Path.cwd()} cannot be written: name another with --directory, or make it writable")

for path in {"config.yaml", *map(str, workflow.overwrite_configfiles)}:
    if Path(path).is_file():
        try:
            read_config(Path(path))
        except InputError as error:
            sys.exit(f"error: {error}")
