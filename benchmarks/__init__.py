"""Speed and memory of partwise against its peers, in one run: `make bench`, or `make bench-full`.

Not part of the installed package. Accuracy is measured by `studies/`.
"""
