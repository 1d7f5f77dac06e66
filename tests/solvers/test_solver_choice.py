"""Which solver is taken for which terms and domains, and the sentences for what no solver can do."""

import numpy as np
import pytest

from partwise.core.domains import Free, OneEntry, Simplex, UnitNorm
from partwise.core.objective import Objective
from partwise.core.storage import as_operand
from partwise.solvers.choice import choose_dual_solver, choose_solver
from partwise.terms import L1, L2, BetaDivergence, Frobenius, LocalCoordinates, NeighborGraph

X = np.random.RandomState(0).gamma(1.0, size=(20, 8))
KULLBACK = BetaDivergence("kullback-leibler")


def objective(*terms, **domains):
    return Objective([term.bind(as_operand(X)) for term in terms], **domains)


def chosen(name, *terms, **domains):
    return type(choose_solver(name, objective(*terms, **domains))()).__name__


@pytest.mark.parametrize(
    ("terms", "domains", "solver"),
    [
        ((Frobenius(),), {}, "Coordinate"),
        ((Frobenius(), NeighborGraph(1.0), L1(0.1)), {}, "Coordinate"),
        ((KULLBACK,), {}, "Newton"),
        ((KULLBACK, NeighborGraph(1.0), L2(0.1)), {}, "Newton"),
        ((BetaDivergence(1.5),), {}, "Newton"),
        ((Frobenius(), LocalCoordinates(0.1)), {}, "Reviving"),
        ((Frobenius(),), {"components": Free()}, "FreeCoordinate"),
        ((Frobenius(),), {"codes": UnitNorm()}, "Alternating"),
        ((Frobenius(),), {"codes": OneEntry()}, "Alternating"),
        ((KULLBACK,), {"components": Simplex()}, "Newton"),
        ((KULLBACK, L1(0.1)), {"codes": Simplex()}, "Newton"),
        ((KULLBACK, L2(0.1, "components")), {"components": Simplex()}, "Multiplicative"),
        ((KULLBACK,), {"codes": Simplex(), "components": Simplex()}, "Multiplicative"),
    ],
)
def test_what_auto_takes(terms, domains, solver):
    assert chosen("auto", *terms, **domains) == solver


@pytest.mark.parametrize(
    ("name", "solver"), [("coordinate", "Coordinate"), ("multiplicative", "Multiplicative")], ids=lambda given: given
)
def test_a_solver_by_name(name, solver):
    assert chosen(name, Frobenius(), L2(0.1)) == solver


def test_every_call_gives_a_fresh_solver():
    """Solvers remember things from sweep to sweep; restarts must not share them."""
    make = choose_solver("auto", objective(Frobenius()))
    assert make() is not make()


@pytest.mark.parametrize(
    ("name", "terms", "domains", "sentence"),
    [
        ("newton", (Frobenius(),), {}, r"solver='newton' needs the Kullback–Leibler divergence.* Use solver='auto'\."),
        ("coordinate", (BetaDivergence(0.5),), {}, r"not compatible with the term 'fit': it needs the quadratic form"),
        (
            "coordinate",
            (Frobenius(),),
            {"codes": UnitNorm()},
            r"does not keep the codes at unit norm. Use solver='auto'",
        ),
        ("multiplicative", (Frobenius(),), {"codes": OneEntry()}, "does not keep the codes at one entry per row"),
        ("auto", (KULLBACK,), {"components": Free()}, "'fit' needs components without negative entries, but Free"),
        ("auto", (Frobenius(), L1(1.0)), {"codes": Free()}, "'l1 codes' needs codes without negative entries"),
        (
            "auto",
            (KULLBACK,),
            {"codes": UnitNorm()},
            "'fit' is not quadratic, and no solver for such terms keeps the codes",
        ),
        ("auto", (BetaDivergence(0.0),), {"components": Simplex()}, "has no step on the simplex"),
    ],
)
def test_what_no_solver_can_do_is_said_before_any_work(name, terms, domains, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        choose_solver(name, objective(*terms, **domains))
    assert str(caught.value).endswith(".")


def test_components_made_of_samples():
    whole = objective(Frobenius())
    assert type(choose_dual_solver("multiplicative", whole)()).__name__ == "Multiplicative"
    for name in ("auto", "projected"):
        assert type(choose_dual_solver(name, whole)()).__name__ == "Projected"
