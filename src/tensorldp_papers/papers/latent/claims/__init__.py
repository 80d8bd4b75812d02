"""The checks of the claims of LATENT."""

from tensorldp_papers.papers.latent.claims import runs as runs
from tensorldp_papers.papers.latent.claims import theorems as theorems
