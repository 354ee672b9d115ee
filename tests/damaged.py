"""Files that are no longer what was written."""


def with_a_flipped_bit(path, every):
    """Flip every so-many-th bit of a file, one at a time; yields once the file has it."""
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), every):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        yield
