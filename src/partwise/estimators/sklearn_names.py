"""Names that scikit-learn's NMF has and ours has not: the error says what to use instead."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Self

PENALTIES = (
    "penalties are l1_codes, l2_codes, l1_components and l2_components of NMF, or terms of Factorization; they are "
    "sums over the entries, without factors of ½, n_samples or n_features"
)
# What to write instead, by scikit-learn's name.
INSTEAD = {
    "beta_loss": "give the divergence as loss, to estimators that have a choice of it",
    "alpha": PENALTIES,
    "alpha_W": PENALTIES,
    "alpha_H": PENALTIES,
    "regularization": PENALTIES,
    "l1_ratio": PENALTIES,
    "shuffle": "leave it out, the order of the coordinates is fixed",
    "batch_size": "leave it out, every sweep of fit sees all samples; partial_fit takes batches of any size",
    "W": "give a start as the parameter init=(W, H)",
    "H": "give a start as the parameter init=(W, H)",
    "update_H": "use transform, which codes samples with the components of a fit",
}


class ExplainsNames:
    """Estimators that explain their own names for parameters of scikit-learn's NMF.

    Signatures stay as written: this only explains an error that would occur anyway.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("__init__", "fit", "fit_transform"):
            if name in cls.__dict__:
                setattr(cls, name, _explained(cls.__dict__[name]))

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        self
        """
        unknown = params.keys() - self.get_params().keys()  # type: ignore[attr-defined]
        if unknown and (sentence := _explanation(type(self).__name__, unknown)):
            raise ValueError(f"Invalid parameter: {sentence}")
        result: Self = super().set_params(**params)  # type: ignore[misc]
        return result


def _explained(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same method; scikit-learn's keywords that it lacks are refused with a sentence."""
    known = inspect.signature(method).parameters

    @wraps(method)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        unknown = kwargs.keys() - known.keys()
        if unknown and (sentence := _explanation(type(self).__name__, unknown)):
            raise TypeError(sentence)
        return method(self, *args, **kwargs)

    return checked


def _explanation(estimator: str, names: Iterable[str]) -> str | None:
    """What replaces those names that are scikit-learn's; None if none is."""
    foreign = sorted(name for name in names if name in INSTEAD)
    if not foreign:
        return None
    advice = "; ".join(dict.fromkeys(INSTEAD[name] for name in foreign))
    return f"{estimator} has no {' and no '.join(foreign)}, which scikit-learn's NMF has: {advice}."
