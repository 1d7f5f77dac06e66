"""Readers of folders: images or texts, in sub-folders named after their classes or all in one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..core.types import Array
from .archive import Refused, most_bytes
from .contents import Contents
from .texts import StopWords, count_words

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm", ".gif")
# The decoders that may see a file, whatever its name: a few simple and well-tested ones.
DECODERS = ("PNG", "JPEG", "BMP", "PPM", "GIF")
TEXTS = (".txt",)
MOST_PIXELS = 2**26


def read_folder(path: Path, stop_words: StopWords = None) -> Contents:
    """Images of one size, as rows of grey levels 0 … 255, or texts, as counts of words but stop words."""
    files = list(_files(path))
    images = [(file, label) for file, label in files if file.suffix.lower() in IMAGES]
    texts = [(file, label) for file, label in files if file.suffix.lower() in TEXTS]
    if bool(images) == bool(texts):
        raise Refused(f"it should hold images ({', '.join(IMAGES)}) or texts ({', '.join(TEXTS)}), but not both")
    chosen = images or texts
    labels = np.array([label for _, label in chosen], object)
    named = None if (labels == "").all() else labels
    names = [file.relative_to(path).as_posix() for file, _ in chosen]
    if texts:
        counted = count_words([_text(file) for file, _ in texts], stop_words)
        return Contents(counted.X, named, terms=counted.words, sample_names=names, notes=counted.notes)
    first = _grey_levels(images[0][0])
    if first.size * len(images) * first.itemsize > most_bytes():
        raise Refused(f"its {len(images)} images of {first.size} pixels are larger than allowed")
    X = np.empty((len(images), first.size), np.float64)
    for row, (file, _) in enumerate(images):
        image = _grey_levels(file)
        if image.shape != first.shape:
            raise Refused(f"{file.name} has {image.shape} pixels, but {images[0][0].name} has {first.shape}")
        X[row] = image.ravel()
    return Contents(X, named, image_shape=np.array(first.shape), sample_names=names)


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Files and their classes, in a fixed order; never a file outside the folder, wherever links point."""
    inside = folder.resolve()
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if not entry.resolve().is_relative_to(inside):
            raise Refused(f"{entry.name} leads outside it")
        if entry.is_dir():
            for file in sorted(entry.iterdir()):
                if not file.resolve().is_relative_to(inside):
                    raise Refused(f"{entry.name}/{file.name} leads outside it")
                if file.is_file() and not file.name.startswith("."):
                    yield file, entry.name
        elif entry.is_file():
            yield entry, ""


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(f"{file.name} is not text in UTF-8") from None


def _grey_levels(file: Path) -> Array:
    try:
        from PIL import Image
    except ImportError:
        raise Refused("images need Pillow, which is not installed: pip install 'partwise[cli]'") from None
    try:
        with Image.open(file, formats=DECODERS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise Refused(f"{file.name} declares {image.width} × {image.height} pixels")
            return np.asarray(image.convert("L"), np.float64)
    except Refused:
        raise
    except Exception:  # decoders may raise anything for damaged images
        raise Refused(f"{file.name} is not an image, or is damaged") from None
