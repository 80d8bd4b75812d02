"""The networks of the studies, initialised from explicit generators."""

from tensorldp.models.registry import build, names, register_model
from tensorldp.models.task import Task

__all__ = ["Task", "build", "names", "register_model"]
