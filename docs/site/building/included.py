"""Links of pages that lie elsewhere in the repository and are included in the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
SITE = ROOT / "docs" / "site"
# Files of the repository and the pages that include them.
PAGES = {
    "docs/methods.md": "inside/methods.md",
    "docs/selection.md": "inside/selection.md",
    "docs/duplicates.md": "inside/duplicates.md",
    "docs/reliability.md": "inside/reliability.md",
    "docs/quality.md": "inside/quality.md",
    "docs/counts.md": "inside/counts.md",
    "docs/many.md": "inside/many.md",
    "docs/scale.md": "inside/scale.md",
    "docs/cluster.md": "inside/cluster.md",
    "docs/reproduction/README.md": "inside/papers.md",
    **{
        f"docs/reproduction/{name}.md": f"inside/papers-{name}.md"
        for name in ("cnmf", "gnmf", "llnmf", "nlcf", "rls-nmf")
    },
    "benchmarks/results/full.md": "inside/benchmarks.md",
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def turn_links(app: Any, path: Path, docname: str, content: list[str]) -> None:
    """Point links to pages of the site; what has no page there is named without a link."""
    home = (SITE / path).resolve().parent if not Path(path).is_absolute() else Path(path).resolve().parent

    def turned(match: re.Match[str]) -> str:
        mark, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        file = (home / target).resolve()
        if mark:
            return match[0]  # the directive's option finds pictures
        page = PAGES.get(file.relative_to(ROOT).as_posix())
        if page is None:
            return text if "`" in text else f"`{text}`"
        return f"[{text}](/{page}{anchor})"

    content[0] = LINK.sub(turned, content[0])
