"""Studies of accuracy: what was measured before a rule or a default was chosen, ``python -m studies.NAME`` each.

Not part of the installed package. Most need the papers' data sets (`PARTWISE_DATA` names their folder); what they found
is in `results/` and on the pages of `docs/`. Speed and memory are measured by `benchmarks/`.
"""
