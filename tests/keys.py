"""Keys of registries, settings and columns, which no reader is to meet in a figure or on a page."""

from __future__ import annotations

import re

from tensorldp.mechanism_table import MECHANISMS
from tensorldp_papers.data.catalogue import names as dataset_names
from tensorldp_papers.plots.names import METRICS, NETWORKS
from tensorldp_papers.registries import METHODS, MODELS
from tensorldp_papers.run.study import study_files

KEYS = {
    key
    for keys in (MECHANISMS.names(), dataset_names(), MODELS.names(), METHODS.names(), NETWORKS, METRICS, study_files())
    for key in keys
    if re.search(r"[_0-9-]", key)  # others are words, too
} | {"mnist", "imdb", "svhn", "ctg", "idn", "udn", "mvg", "pdpm", "privunit", "projunit", "duchi", "llagp", "lenet"}
ANY_KEY = "|".join(sorted(map(re.escape, KEYS), key=len, reverse=True))
KEY = re.compile(rf"(?<![\w-])(?:{ANY_KEY})(?![\w-])|\w+_\w+=|=\w+_")
