"""Speed and memory of partwise against its peers, in one run: `make bench`, or `make bench-full`.

Not part of the installed package. `real_data.py` and `defaults.py` are about accuracy; everything else is about speed.
"""
