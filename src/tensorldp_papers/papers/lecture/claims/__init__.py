"""The checks of the claims of the lecture."""

from tensorldp_papers.papers.lecture.claims import runs as runs
from tensorldp_papers.papers.lecture.claims import theorems as theorems
