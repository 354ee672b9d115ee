"""What can go wrong through the user's doing, and what it says."""


class InputError(Exception):
    """A bad parameter, argument or file. The message is one line that names it and what is allowed; exit code 2."""


class DivergedError(Exception):
    """A training loss that is no longer a number. The message names seed, step and variant; exit code 3."""
