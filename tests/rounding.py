"""Tolerances for results in single precision, derived from the rounding of its operations."""

EPS = 2.0**-23


def rounding(operations, size):
    """Return how far a float32 result may be from the exact one, on any processor.

    Processors sum in different orders, and some round a product before it is added and some do not, so that their last
    bits differ. But each operation rounds its result by at most eps/2 of it, eps = 2^-23, so that `operations` in a
    chain, none of whose results is larger than `size`, are off by at most operations · eps/2 · size to first order
    (Higham 2002, Accuracy and Stability of Numerical Algorithms, Section 3.1). A product of matrices is a chain of as
    many as it sums. Twice that is returned: of two results in single precision, each may be off.
    """
    return operations * EPS * size
