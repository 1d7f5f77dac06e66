"""The papers' experiments: what they print, how they were run, and what we measure.

A protocol (`papers/*.toml`) says how a paper's tables were made. `reproduce` runs it, keeping every finished run in a
file, and `compare` sets measured next to printed numbers. `compare_methods` runs methods on your own data.
"""

from .comparison import Comparison, compare_methods
from .journal import Journal, JournalDamaged, JournalInUse
from .printed import Printed, printed_numbers
from .protocol import Protocol, UnknownPaper, load_protocol, paper_names
from .runner import reproduce
from .verdicts import Cell, compare, read_cells, write_cells

__all__ = [
    "Cell",
    "Comparison",
    "Journal",
    "JournalDamaged",
    "JournalInUse",
    "Printed",
    "Protocol",
    "UnknownPaper",
    "compare",
    "compare_methods",
    "load_protocol",
    "paper_names",
    "printed_numbers",
    "read_cells",
    "reproduce",
    "write_cells",
]
