"""Write the pages of this folder and docs/images/headline.png from ``results/*.csv``."""

from . import headline, pages

pages.main()
headline.main()
