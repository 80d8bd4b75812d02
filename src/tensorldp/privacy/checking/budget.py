"""How long a check may take."""

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
    """

    seconds: float
    samples: int
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

    def part(self, share: float) -> Budget:
        """A budget of a share of what is left."""
        return Budget(max(0.0, self.seconds - self.spent) * share, self.samples)
