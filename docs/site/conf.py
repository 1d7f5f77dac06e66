"""How Sphinx builds the site: ``make docs``."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import matplotlib
from sphinx_gallery.sorting import ExplicitOrder

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("OMP_NUM_THREADS", "1")
matplotlib.use("agg")

from building import docstrings, included, pictures, reference  # noqa: E402

import partwise  # noqa: E402

project = "partwise"
author = "The partwise developers"
copyright = "the partwise developers, BSD 3-Clause licence"
version = release = partwise.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "code"
nitpicky = False
# Tables of the papers are sections of the third level.
suppress_warnings = ["config.cache", "myst.header"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_display_short_literal_types = True
python_maximum_signature_line_length = 88  # longer ones have a line for every parameter
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_\w+\.py",
    "within_subsection_order": ExplicitOrder(
        [
            *(
                f"plot_{name}.py"
                for name in (
                    *("parts", "topics", "auto", "rank", "consensus", "labels", "spatial", "missing_pixels", "poisson"),
                    *("robust", "groups", "kernel", "scale", "custom_term", "scikit_learn"),
                )
            ),
            "*",  # examples that are new
        ]
    ),
    "reset_modules": ("matplotlib", "building.pictures.style"),
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "write_computation_times": False,
    "show_signature": False,
    "capture_repr": (),
    "remove_config_comments": True,
    "min_reported_time": 5,
    "thumbnail_size": (560, 400),
    "matplotlib_animations": False,
    "reference_url": {"partwise": None},
    "backreferences_dir": "gallery/used",
    "doc_module": ("partwise",),
    "abort_on_example_error": True,
}
# A warning of a fit belongs on the page only where the page speaks of it.
warnings.filterwarnings("ignore", category=partwise.exceptions.DuplicateComponentsWarning)

html_theme = "pydata_sphinx_theme"
html_title = "partwise"
html_static_path = ["_static"]
html_logo = html_favicon = "_static/logo.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "partwise"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "which-method": [], "faq": [], "cite": [], "coming-from": []}


def setup(app):
    """Pictures before reading, formulas kept as written, links of included pages turned to the site."""
    reference.write()  # now: autosummary knows only pages that are there before the build begins
    app.connect("builder-inited", pictures.make)
    app.connect("autodoc-process-docstring", docstrings.keep_formulas, priority=100)
    app.connect("autodoc-process-signature", docstrings.shorten_types)
    app.connect("autodoc-skip-member", docstrings.skip_inherited)
    app.connect("include-read", included.turn_links)
