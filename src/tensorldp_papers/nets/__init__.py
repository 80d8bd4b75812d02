"""The networks of the studies, initialised from explicit generators."""

from tensorldp_papers.nets.registry import build, names, register_model
from tensorldp_papers.task import Task

__all__ = ["Task", "build", "names", "register_model"]
