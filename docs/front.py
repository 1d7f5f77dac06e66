"""Draw docs/images/regions.png, the picture of the README and of the site: the first one of an example of the gallery.

    python -m docs.front

The data are made up. The ground is transparent and the titles are grey, to be read on a light page and on a dark one.
"""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot

HERE = Path(__file__).resolve().parent
EXAMPLE, PICTURE = HERE / "gallery" / "plot_spatial.py", HERE / "images" / "regions.png"
GREY = "#808a99"

if __name__ == "__main__":
    runpy.run_path(str(EXAMPLE))
    figure = pyplot.figure(1)
    for panel in figure.axes:
        panel.set_title(panel.get_title(), size=17, weight="bold", color=GREY)
    figure.savefig(PICTURE, dpi=140, transparent=True, bbox_inches="tight", metadata={"Software": None})
    print(f"Wrote {PICTURE}.")
