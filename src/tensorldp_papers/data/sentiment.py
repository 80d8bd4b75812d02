"""Words of praise and of blame: labels for public texts without any private record.

The lists were written by hand before any accuracy was seen, of words in which people say of a film, or of anything,
whether they liked it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

PRAISE = (
    "amazing awesome beautiful beautifully best brilliant brilliantly charming classic compelling delight delightful "
    "enjoy enjoyable enjoyed entertaining excellent exceptional fantastic favorite favourite fun gem gorgeous great "
    "greatest gripping heartwarming hilarious impressive incredible joy love loved lovely magnificent masterpiece "
    "memorable moving outstanding perfect perfectly pleasant powerful recommend recommended refreshing remarkable "
    "stunning superb superbly terrific touching treat underrated unforgettable wonderful wonderfully"
)
BLAME = (
    "absurd annoyed annoying atrocious avoid awful badly bad bland bored boring cheap cheesy clumsy crap dire "
    "disappointed disappointing disappointment disaster dreadful dull embarrassing fails failed failure fake "
    "forgettable garbage hate hated horrible incoherent insult lame laughable lousy mediocre mess miserable "
    "nonsense painful pathetic pointless poor poorly predictable pretentious ridiculous rubbish sadly stupid "
    "sucks tedious terrible terribly trash unbelievable unconvincing unfunny uninteresting unwatchable useless "
    "waste wasted weak worse worst worthless"
)


def polarity(index: Mapping[str, int], size: int) -> NDArray[np.int8]:
    """Returns 1 for words of praise, -1 for words of blame, 0 for all others: (size,) by word index."""
    found = np.zeros(size, np.int8)
    for words, sign in ((PRAISE, 1), (BLAME, -1)):
        found[[index[word] for word in words.split() if word in index]] = sign
    found[0] = 0
    return found


def public_labels(tokens: NDArray[np.int32], signs: NDArray[np.int8]) -> NDArray[np.int64]:
    """Returns 1 where a text (texts, length) has a larger share of praise less blame than half of the texts, else 0.

    The median divides them: that assumes that as many texts praise as blame.
    """
    kept = signs[np.minimum(tokens, len(signs) - 1)].astype(np.int64)
    balance = kept.sum(axis=1) / np.maximum((tokens > 0).sum(axis=1), 1)
    praised: NDArray[np.bool_] = balance > np.median(balance)
    return praised.astype(np.int64)
