"""Modules of version 0.1.0 that have moved: their names still import, with a DeprecationWarning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "tensorldp.claims": "tensorldp_papers.claims",
    "tensorldp.claims.base": "tensorldp_papers.claims.base",
    "tensorldp.claims.evidence": "tensorldp_papers.claims.evidence",
    "tensorldp.claims.statements": "tensorldp_papers.claims.statements",
    "tensorldp.data": "tensorldp_papers.data",
    "tensorldp.data.catalogue": "tensorldp_papers.data.catalogue",
    "tensorldp.data.source": "tensorldp_papers.data.catalogue",
    "tensorldp.data.split": "tensorldp_papers.data.split",
    "tensorldp.learners": "tensorldp_papers.public",
    "tensorldp.learners.means": "tensorldp_papers.public.means",
    "tensorldp.models": "tensorldp_papers.nets",
    "tensorldp.privacy.checking": "tensorldp.check",
    "tensorldp.privacy.curves": "tensorldp.curves",
    "tensorldp.privacy.curves.base": "tensorldp.curves.base",
    "tensorldp.privacy.curves.discrete": "tensorldp.curves.discrete",
    "tensorldp.privacy.curves.dp_sgd": "tensorldp.curves.dp_sgd",
    "tensorldp.privacy.curves.gaussian": "tensorldp.curves.gaussian",
    "tensorldp.privacy.curves.laplace": "tensorldp.curves.laplace",
    "tensorldp.representations": "tensorldp_papers.public",
    "tensorldp.representations.letters": "tensorldp_papers.public.letters",
    "tensorldp.representations.projection": "tensorldp_papers.public.projection",
    "tensorldp.studies": "tensorldp_papers.run",
    "tensorldp.studies.methods": "tensorldp_papers.run.method",
    "tensorldp.studies.records": "tensorldp_papers.run.records",
    "tensorldp.studies.represent": "tensorldp_papers.papers.frontier.represent",
}


class MovedModules(MetaPathFinder, Loader):
    """Finds what `MOVED` lists, after all other finders; an old module hands every name on to the new one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        new = MOVED[module.__name__]
        warnings.warn(f"{module.__name__} is {new} now", DeprecationWarning, stacklevel=2)
        here = import_module(new)
        module.__getattr__ = lambda name: getattr(here, name)  # type: ignore[method-assign]


if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
    sys.meta_path.append(MovedModules())
