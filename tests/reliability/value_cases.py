"""A. Values: what the entries of X may be."""

import numpy as np
import scipy.sparse as sp
from case import Answered, Case, Refused, X, both, non_negative, signed, takes, transforms

FORMS = {"dense": np.asarray, "CSR": sp.csr_array, "CSC matrix": sp.csc_matrix}


def entry(value, form=np.asarray):
    def make():
        data = X.copy()
        data[3, 2] = value
        return form(data)

    return make


def made(function, form=np.asarray):
    return lambda: form(function(X.copy()))


def with_row(value):
    def change(data):
        data[4] = value
        return data

    return change


def with_column(value):
    def change(data):
        data[:, 5] = value
        return data

    return change


def zero_column_stays(model, data):
    # A given sparseness may need every entry.
    free = hasattr(model, "init") and not hasattr(model, "components_sparseness")
    if free and hasattr(model, "components_") and model.components_.shape[1] == X.shape[1]:
        assert not model.components_[:, 5].any()


def objective_is_not_negative(model, data):
    if hasattr(model, "objective_") and type(model).__name__ != "LocalNMF":
        assert min(model.history_["objective"]) >= 0


def every_feature_counts(model, data):
    assert (model.outliers_ < 1).all()


def not_zero(model, data):
    assert model.embedding_.any()


def rank_two(data):
    return (data[:, :2] @ data[:2]).astype(np.float32)


def with_spread(data):
    return data * np.logspace(-30, 30, data.shape[1])


def not_counts(model):
    """All but the method whose objective knows the unit of X."""
    return type(model).__name__ != "LocalNMF"


HARMLESS = {
    "−0.0": lambda data: np.where(data == 0, -0.0, data),
    "zero row": with_row(0.0),
    "two thirds of the rows zero": lambda data: data * (np.arange(15) % 3 == 0)[:, None],
    "a single entry that is not zero": lambda data: np.where(data == data.max(), data, 0),
    "a single column that is not zero": lambda data: data * (np.arange(9) == 4),
    "a single row that is not zero": lambda data: data * (np.arange(15) == 4)[:, None],
    "constant": np.ones_like,
    "constant rows": lambda data: np.repeat(data[:, :1] + 0.5, 9, axis=1),
    "constant columns": lambda data: np.repeat(data[:1] + 0.5, 15, axis=0),
    "every row twice": lambda data: np.repeat(data[:7], 2, axis=0),
    "two different rows": lambda data: data[np.arange(15) % 2],
    "one huge outlier": lambda data: np.where(data == data.max(), 1e6, data),
    "one outlier of 1e100": lambda data: np.where(data == data.max(), 1e100, data),
    "an outlying row": with_row(1e4),
    "differences of 1e-12": lambda data: 1 + 1e-12 * data,
    "columns from 1e-30 to 1e30": with_spread,
    "whole numbers of 1e15": lambda data: np.round(data * 1e15),
    "zeros and ones": lambda data: (data > 0.4).astype(float),
    "entries of 1e-100 among ordinary ones": lambda data: np.where(data == 0, 1e-100, data),
    "subnormal entries among ordinary ones": lambda data: np.where(data == 0, 5e-324, data),
}
SIZES = {
    "times 1e150": (np.float64, 1e150),
    "times 1e-150": (np.float64, 1e-150),
    "times 1e200": (np.float64, 1e200),
    "times 1e-200": (np.float64, 1e-200),
    "times 1e307": (np.float64, 1e307),
    "times 1e-307": (np.float64, 1e-307),
    "subnormal, times 1e-315": (np.float64, 1e-315),
    "float32 times 1e15": (np.float32, 1e15),
    "float32 times 1e30": (np.float32, 1e30),
    "float32 times 1e38": (np.float32, 1e38),
    "float32 times 1e-30": (np.float32, 1e-30),
    "float32 subnormal, times 1e-42": (np.float32, 1e-42),
}


def sized(dtype, factor, form=np.asarray):
    return lambda: form((X * factor).astype(dtype))


def refusals():
    for form_name, form in FORMS.items():
        yield Case("A", f"NaN, {form_name}", entry(np.nan, form), Refused(ValueError, "NaN"))
        yield Case("A", f"infinity, {form_name}", entry(np.inf, form), Refused(ValueError, "inf"))
        yield Case("A", f"minus infinity, {form_name}", entry(-np.inf, form), Refused(ValueError, "inf"))
        negative = Refused(ValueError, "Negative values in data passed to")
        yield Case("A", f"negative entry, {form_name}", entry(-1e-3, form), negative, non_negative)
        yield Case("A", f"negative entry where signs are allowed, {form_name}", entry(-1e-3, form), applies=signed)
    yield Case("A", "all NaN", made(lambda data: data * np.nan), Refused(ValueError, "NaN"))
    yield Case("A", "all negative", made(lambda data: -data - 1), negative, non_negative)
    yield Case("A", "all negative where signs are allowed", made(lambda data: -data - 1), applies=signed)
    yield Case("A", "centred where signs are allowed", made(lambda data: data - data.mean(axis=0)), applies=signed)
    for name, value, text in (("NaN", np.nan, "NaN"), ("infinity", np.inf, "inf")):
        yield Case(
            "A", f"{name} in new samples", expected=Refused(ValueError, text), applies=transforms, new=entry(value)
        )
    yield Case(
        "A", "negative entry in new samples", applies=both(transforms, non_negative), new=entry(-1.0), expected=negative
    )
    yield Case("A", "zero row in new samples", applies=transforms, new=made(with_row(0.0)))
    yield Case("A", "only zeros in new samples", applies=transforms, new=made(np.zeros_like))
    for factor in (1e200, 1e-200):
        expected = Refused(ValueError, "Scale X as those data were")
        yield Case(
            "A", f"new samples times {factor:.0e}", expected=expected, applies=transforms, new=sized(float, factor)
        )


def answers():
    for form_name, form in FORMS.items():
        yield Case("A", f"all zero, {form_name}", made(np.zeros_like, form), Answered(warns=" "))
    for name, change in HARMLESS.items():
        yield Case("A", name, made(change))
    for name in ("zero row", "constant", "every row twice", "two different rows", "a single entry that is not zero"):
        params = {"assign": "kmeans"}
        yield Case("A", f"{name}, labels by k-means", made(HARMLESS[name]), applies=takes("assign"), params=params)
    robust = Answered(holds=every_feature_counts, says="every feature keeps some weight")
    weighting = lambda model: type(model).__name__ == "LocalSimilarityNMF"  # noqa: E731
    for name in ("one huge outlier", "one outlier of 1e100"):
        yield Case("A", f"{name}, robust weights", made(HARMLESS[name]), robust, weighting)
    fewer = Answered(warns="The codes give", says="labels 0 and 1")
    two = made(HARMLESS["two different rows"])
    yield Case("A", "two different rows and three components", two, fewer, takes("assign"))
    yield Case("A", "zero row, CSR", made(with_row(0.0), sp.csr_array))
    for form_name, form in FORMS.items():
        expected = Answered(holds=zero_column_stays, says="zero in every component")
        yield Case("A", f"zero column, {form_name}", made(with_column(0.0), form), expected)
    exact = Answered(holds=objective_is_not_negative, says="objective not negative")
    yield Case("A", "exact low rank, float32", made(rank_two), exact)
    for name, (dtype, factor) in SIZES.items():
        for form_name, form in list(FORMS.items())[:2]:
            expected = Answered(holds=not_zero, says="finite, not zero")
            yield Case("A", f"{name}, {form_name}", sized(dtype, factor, form), expected, not_counts)
    counts = lambda model: not not_counts(model)  # noqa: E731
    expected = Refused(ValueError, "Scale X so that its largest value lies between")
    yield Case("A", "times 1e200, method for counts", sized(float, 1e200), expected, counts)
    yield Case("A", "one entry of 1e300 among ordinary ones", entry(1e300), applies=not_counts)


CASES = [*refusals(), *answers()]
