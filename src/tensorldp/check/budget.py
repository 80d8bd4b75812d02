"""How long a check may take, in time and in rounds of its searches."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

PATIENCE = 10.0  # wall time over processor time, on a machine that others use too


@dataclass
class Budget:
    """Processor time, releases of each record for one pair, and the releases drawn so far.

    Attributes:
        seconds: of processor time, and a tenth of the wall time that is allowed.
        samples: releases of each record that one pair may be given to learn from.
        rounds: of a search at most, None for as many as there is time for; a search that ends by them and not by the
            time draws the same on every machine.
        starts: pairs that a search starts from at most, None for all.
    """

    seconds: float
    samples: int
    rounds: int | None = None
    starts: int | None = None
    drawn: int = 0
    start: float = field(default_factory=time.process_time)
    wall: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> float:
        """Seconds of processor time since the start, or a tenth of the wall time if that is more."""
        return max(time.process_time() - self.start, (time.monotonic() - self.wall) / PATIENCE)

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.spent >= self.seconds

    def ends(self, rounds: int) -> bool:
        """Whether the time or the rounds are up after so many of these."""
        return self.over or (self.rounds is not None and rounds >= self.rounds)

    def part(self, share: float) -> Budget:
        """A budget of a share of what is left."""
        return Budget(max(0.0, self.seconds - self.spent) * share, self.samples, self.rounds, self.starts)
