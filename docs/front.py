"""Draw docs/images/regions.png, the picture of the README: the first one of an example of the gallery.

    python -m docs.front

The data are made up.
"""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot

HERE = Path(__file__).resolve().parent
EXAMPLE, PICTURE = HERE / "gallery" / "plot_spatial.py", HERE / "images" / "regions.png"

if __name__ == "__main__":
    runpy.run_path(str(EXAMPLE))
    pyplot.figure(1).savefig(PICTURE, dpi=110, metadata={"Software": None})
    print(f"Wrote {PICTURE}.")
