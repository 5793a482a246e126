"""The errors that openwafer raises, with the text of the command line."""


class Error(Exception):
    """What all errors of openwafer are."""


class InputError(Error, ValueError):
    """What was asked is wrong: says what was expected, what was found, and the remedy."""


class CapacityError(Error):
    """What was asked is right but does not fit (memory, size, count)."""


class InternalError(Error, RuntimeError):
    """A fault of openwafer's own; please report it."""
