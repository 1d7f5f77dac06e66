"""Warnings of their own kind, so that they can be filtered."""


class DuplicateComponentsWarning(UserWarning):
    """Some components of a fitted model repeat others."""
