"""Pages to read: one file each, which opens in any browser."""

from .comparison import comparison_page
from .reproduction import reproduction_page

__all__ = ["comparison_page", "reproduction_page"]
