"""How kernels are compiled."""

# Sums may be reordered and contracted, which lets them use vector registers; NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}
