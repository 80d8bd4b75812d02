"""For every claim about results a world in which it is true by a margin, and one in which it is false."""

from __future__ import annotations

from truths_latent import LATENT_TRUTHS
from truths_lecture import LECTURE_TRUTHS
from truths_pldp import PLDP_TRUTHS
from truths_tldp import TLDP_TRUTHS
from truths_tvg import TVG_TRUTHS

TRUTHS = {**TLDP_TRUTHS, **PLDP_TRUTHS, **LECTURE_TRUTHS, **TVG_TRUTHS, **LATENT_TRUTHS}
