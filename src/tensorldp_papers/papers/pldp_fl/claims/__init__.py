"""The checks of the claims of PLDP-FL."""

from tensorldp_papers.papers.pldp_fl.claims import runs as runs
from tensorldp_papers.papers.pldp_fl.claims import theorems as theorems
