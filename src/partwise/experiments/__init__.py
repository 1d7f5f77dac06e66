"""The papers' experiments: what they print, how they were made, and what comes out here.

A protocol (`papers/*.toml`) says how a paper's tables were made. `reproduce` runs it, keeping every finished run in a
file, and `compare` puts what was measured next to what was printed. `compare_methods` runs methods on data of your own.
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
