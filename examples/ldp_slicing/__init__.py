"""The room of LDP-Slicing."""

from . import claims as claims
from . import method as method
