"""The networks of the studies, initialised from explicit generators."""

from tensorldp_papers.nets.registry import Task, build, names, register_model

__all__ = ["Task", "build", "names", "register_model"]
