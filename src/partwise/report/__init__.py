"""Pages to read: one file each, which opens in any browser and loads nothing."""

from .comparison import comparison_page
from .model import model_page
from .reproduction import reproduction_page
from .saving import save_comparison_page, save_model_page

__all__ = ["comparison_page", "model_page", "reproduction_page", "save_comparison_page", "save_model_page"]
