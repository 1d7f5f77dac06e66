"""How much memory there is, so that what cannot fit is refused before any is allocated."""

from __future__ import annotations

import os


def machine_memory() -> float:
    """Bytes of memory of this machine; infinite where the system does not say."""
    if not hasattr(os, "sysconf"):
        return float("inf")
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def check_fits(needed: float, what: str, instead: str) -> None:
    """Refuse what needs more than the memory of this machine.

    Parameters
    ----------
    needed : float
        In bytes.
    what : str
        What needs it, as the beginning of the sentence.
    instead : str
        What to do, as a sentence.
    """
    memory = machine_memory()
    if needed > memory:
        raise ValueError(
            f"{what} needs about {needed / 2**30:.3g} GiB, but this machine has {memory / 2**30:.3g}. {instead}"
        )
