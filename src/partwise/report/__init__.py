"""Pages for people: one file each, which any browser opens."""

from .comparison import comparison_page
from .reproduction import reproduction_page

__all__ = ["comparison_page", "reproduction_page"]
