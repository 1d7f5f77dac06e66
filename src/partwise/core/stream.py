"""Where a stream of batches stands: the components, and what is left of earlier samples."""

from __future__ import annotations

from dataclasses import dataclass

from .past import Past
from .types import Array

# A sample seen when there were i of them counts in proportion to i to this power: early batches, whose codes were made
# with poor components, fade, and after two passes 7/8 of the weight is in the second. Higher powers would forget rare
# features, lower ones keep the beginning for too long.
AUTO_POWER = 2.0


@dataclass(frozen=True, eq=False)
class Stream:
    """What earlier batches have left, in the unit of the fit.

    Attributes
    ----------
    Ht : ndarray of shape (n_features, k)
        The components, transposed.
    pasts : tuple of Past
        What is left of every term.
    seen : float
        How many samples there were, with their weights.
    effective : float
        How many they are worth by "auto", if the latest one is worth one.
    """

    Ht: Array
    pasts: tuple[Past, ...] = ()
    seen: float = 0.0
    effective: float = 0.0

    @classmethod
    def begun(cls, Ht: Array, pasts: tuple[Past, ...], seen: float) -> Stream:
        """The stream after its first samples, which are worth the same."""
        return cls(Ht, pasts, seen, seen)

    def faded(self, n_new: float, forget_factor: float | str) -> tuple[Stream, float, float]:
        """The stream as it counts beside a batch of new samples: with a faded past, and their number added.

        With "auto" the past fades, and what is left is weighted to stand for all samples seen, so that penalties on the
        components count as in a fit to all of them. With a number the past is multiplied by it. Also returned: what the
        past was multiplied by, and how much each of the new samples counts.
        """
        seen = self.seen + n_new
        fading = (self.seen / seen) ** AUTO_POWER
        effective = fading * self.effective + n_new
        if forget_factor != "auto":
            share, lead = float(forget_factor), 1.0
        elif self.effective:
            lead = seen / effective
            share = fading * lead * self.effective / self.seen
        else:
            share, lead = 0.0, 1.0
        return Stream(self.Ht, tuple(past.faded(share) for past in self.pasts), seen, effective), share, lead


def joined(pasts: tuple[Past, ...], more: tuple[Past, ...]) -> tuple[Past, ...]:
    """The sums of what is of one term and kind."""
    sums = {(past.name, type(past)): past for past in pasts}
    for past in more:
        key = past.name, type(past)
        sums[key] = sums[key].plus(past) if key in sums else past
    return tuple(sums.values())
