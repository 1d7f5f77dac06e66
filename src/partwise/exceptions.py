"""Warning classes, so that users can filter them."""


class DuplicateComponentsWarning(UserWarning):
    """Some components of a fitted model repeat others."""
