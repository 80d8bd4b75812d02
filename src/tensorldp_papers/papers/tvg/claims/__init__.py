"""The checks of the claims of TVG."""

from tensorldp_papers.papers.tvg.claims import errors as errors
from tensorldp_papers.papers.tvg.claims import runs as runs
from tensorldp_papers.papers.tvg.claims import theorems as theorems
