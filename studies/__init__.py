"""Studies of accuracy, measured before a rule or a default was chosen; run each with ``python -m studies.NAME``.

Not part of the installed package. Most need the papers' data sets (`PARTWISE_DATA` names their folder); their results
are in `results/` and on the pages of `docs/`. `benchmarks/` measures speed and memory.
"""
