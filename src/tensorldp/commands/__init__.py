"""The commands of `python -m tensorldp`, one module each."""
