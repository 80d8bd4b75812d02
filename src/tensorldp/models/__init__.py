"""The networks of the studies, initialised from explicit generators."""

from tensorldp.models.registry import Task, build, names

__all__ = ["Task", "build", "names"]
