"""The checks of the claims of TLDP."""

from tensorldp_papers.papers.tldp.claims import errors as errors
from tensorldp_papers.papers.tldp.claims import runs as runs
from tensorldp_papers.papers.tldp.claims import theorems as theorems
from tensorldp_papers.papers.tldp.claims import type3 as type3
