"""Estimators that learn from batches: `partial_fit`, and `fit_batches` for data that can be read only once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sized
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if

from ..callbacks import Checkpoint, Fit, Progress, as_callbacks, fitting
from ..clusters import Assignment
from ..core import Array, IntArray, StoredRows, Unit, check_fits
from ..core.dask_rows import is_dask
from ..core.domains import NON_NEGATIVE
from ..core.stream import Stream
from ..core.warn import warn
from ..selection.choice import choose
from ..selection.grids import open_parameters
from ..solvers import Minimum, Options, Problem, begin_stream, check_streams, fit_anew, take_batch
from .base import BaseFactorization
from .chunk_batches import learn_from_chunks
from .given_batches import batches_of
from .options import Auto
from .stream_samples import Samples
from .units import check_new_X, chosen_unit, grids_inside, selection_inside, selection_outside
from .validation import check_sample_weight, check_X, warn_unknown

# The first samples are kept until there are this many for each component: a start from fewer ends in poor minima, which
# later batches cannot leave.
START_ROWS = 40
# Until then, all are fitted afresh whenever they have become this many times as many.
GROWTH = 1.5
# The latest batches, at most so many, are fitted again with the next one if together they have no more samples than so
# many for each component, and what is remembered of a sample is no quadratic: it depends on the components with which
# the sample was met last.
HELD_BATCHES, HELD_ROWS = 3, 60
# Clusters are learned from at least so many of the latest codes.
RECENT = 2000

ForgetFactor = Annotated[float, Interval(Real, 0, 1, closed="both")] | Auto


@dataclass(frozen=True, eq=False)
class Streamed:
    """What a model keeps between batches, in the unit of the fit.

    Attributes
    ----------
    stream : Stream
        The components, and what earlier batches left.
    chosen : dict of str to object
        Parameters that the first batch chose.
    unit : Unit
    recent : ndarray of shape (n_recent, k)
        The latest codes, from which clusters are learned.
    early : Samples, optional
        All samples so far, until there are enough to begin.
    fitted : int
        How many of them were fitted afresh the last time.
    standing : Samples, optional
        Samples that stand for earlier ones, and are fitted again with every batch.
    held : tuple of Samples
        The latest batches, if they are fitted again with the next one.
    """

    stream: Stream
    chosen: dict[str, Any]
    unit: Unit
    recent: Array
    early: Samples | None = None
    fitted: int = 0
    standing: Samples | None = None
    held: tuple[Samples, ...] = ()


class StreamingFactorization(BaseFactorization):
    """A factorisation that can learn from batches of samples, whose codes do not depend on each other.

    Parameters
    ----------
    forget_factor : float or "auto"
        What `partial_fit` multiplies earlier batches by. 1 forgets nothing; with 0.9 a batch counts a third after ten
        others, which follows data that drift. "auto" is for data that do not: a sample counts in proportion to the
        square of its place in the stream, whatever the size of the batches. So the beginning, which met poor
        components, is soon forgotten, and after two passes over the same data the second has 7/8 of the weight.

    Attributes
    ----------
    n_samples_seen_ : int
        Samples in all batches, after `partial_fit`.
    n_steps_ : int
        Batches, after `partial_fit`.
    """

    forget_factor: ForgetFactor = "auto"
    # Whether the method can; one that derives from another that can may not.
    _streams: ClassVar[bool] = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn codes and components from the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Non-negative data.
        y : array-like of shape (n_samples,), optional
            Classes, −1 for unknown; ignored by methods that use no labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts in the fit.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        for name in ("_streamed", "n_samples_seen_", "n_steps_"):
            self.__dict__.pop(name, None)
        return self

    @available_if(lambda model: model._streams)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch of samples.

        Memory and time depend on the batch, not on the samples before it: of these, only sums of the size of the
        components are kept, which fade by `forget_factor`. The first samples are kept as they are until there are 40
        for each component; until then all of them are fitted together. Samples should come in random order. If they
        come class by class, make several passes.

        `embedding_` and `labels_` then refer to the last batch, `history_` and `reconstruction_err_` to this batch and
        those that were fitted again with it, `objective_` also to what is remembered. `transform` gives codes of
        earlier samples. "auto" is resolved with the first batch. An error leaves the model as it was. After `fit`,
        batches continue from its components, but its samples are not remembered.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Non-negative data, with the features of the batches before. The chunks of a dask array are batches, one
            after another; with a client the model goes to where each chunk is.
        y : array-like of shape (n_samples,), optional
            Classes, −1 for unknown; ignored by methods that use no labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts.

        Returns
        -------
        self
        """
        # Whatever goes wrong, goes wrong with a copy.
        model = copy(self)
        if is_dask(X):
            learn_from_chunks(model, X, y, sample_weight)
        else:
            model._take(X, y, sample_weight)
        self.__dict__.update(model.__dict__)
        return self

    @available_if(lambda model: model._streams)
    def fit_batches(self, batches: Iterable[Any], **arguments: Any) -> Self:
        """Learn from batches that can be read only once: the counterpart of `fit` for a stream.

        It starts afresh, and calls `partial_fit` with every batch. If the iterator fails, its error is raised and the
        model keeps what it has learned; Ctrl-C ends the stream with a warning. `callbacks` and `verbose` are told about
        every batch as about a sweep of `fit`, so that :class:`partwise.callbacks.TimeBudget` ends a stream too.

        Parameters
        ----------
        batches : iterable
            Each is an X, or a tuple of the arguments of `partial_fit`: (X, y), (X, y, sample_weight). The chunks of a
            dask array are batches.
        **arguments
            Further arguments of every call of `partial_fit`.

        Returns
        -------
        self
        """
        self._validate_params()
        batches = batches_of(batches)
        callbacks = as_callbacks(self.callbacks, self.verbose)
        if any(isinstance(callback, Checkpoint) for callback in callbacks):
            raise ValueError(
                "A Checkpoint resumes a fit whose data can be read again. To resume a stream, call partial_fit with "
                "each batch and save the model in between: when it is loaded, it continues where it was."
            )
        fresh: Mapping[str, Any] = self.get_params(deep=False)
        model, count, clock = type(self)(**fresh), 0, time.perf_counter()
        with fitting(callbacks, Fit(self, None, None, None, check_random_state(None))):
            for callback in callbacks:
                callback.on_begin()
            try:
                for count, batch in enumerate(batches, 1):
                    model._take_numbered(batch, count, arguments)
                    self.__dict__ = model.__dict__
                    progress = self._progress(count, batches, time.perf_counter() - clock)
                    # Every callback is told, whatever the others answer.
                    if any([callback.on_sweep(progress) for callback in callbacks]):
                        break
            except KeyboardInterrupt:
                if not hasattr(model, "n_steps_"):
                    raise
                warn(f"The stream was interrupted; the model has learned from {model.n_steps_} batches.")
            finally:
                for callback in callbacks:
                    callback.on_end()
        if not count:
            raise ValueError("There is no batch: the iterator is empty, or it was read before. Give at least one.")
        return self

    def _take_numbered(self, batch: Any, number: int, arguments: Mapping[str, Any]) -> None:
        """One batch of an iterator; an error says which."""
        try:
            self.partial_fit(*(batch if isinstance(batch, tuple) else (batch,)), **arguments)
        except (ValueError, TypeError) as error:
            error.add_note(f"This was batch {number} of the stream; the model has learned from those before it.")
            raise

    def _progress(self, count: int, batches: Iterable[Any], elapsed: float) -> Progress:
        terms = {name: values[-1] for name, values in self.history_.items() if name not in ("objective", "time")}
        expected = len(batches) if isinstance(batches, Sized) else count
        return Progress(count, expected, 0, self.objective_, terms, elapsed, self.embedding_, self.components_)

    def _check_streams(self) -> None:
        """Refuse parameters with which a method cannot learn from batches."""
        if not isinstance(self.init, str):
            raise ValueError(
                "init=(W, H) gives codes for all samples, but partial_fit sees one batch at a time. Give the name of a "
                "start, or seed_components if the method has them."
            )

    def _take(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn from one batch."""
        self._validate_params()
        self._check_streams()
        before: Streamed | None = self.__dict__.get("_streamed")
        if hasattr(self, "components_"):
            unit = self._unit if before is None else before.unit
            X = check_new_X(self, X, self.missing)
        else:
            X, exponent = check_X(self, X, self.missing, reset=True)
            unit = chosen_unit(self._unit_for, exponent, X)
            X = unit.inside(X)
        if isinstance(X, StoredRows):
            raise TypeError("partial_fit takes batches in memory. fit reads data on disk in blocks by itself.")
        if hasattr(self, "components_"):
            X = X.astype(self.components_.dtype, copy=False)
        weight = check_sample_weight(sample_weight, X.shape[0], X.dtype)
        batch = Samples(X, weight, self._stream_labels(y, X.shape[0]))
        rng = check_random_state(self.random_state)
        if before is None and hasattr(self, "components_"):
            stream, selection = Stream(self._inner_components(X.dtype)), self.__dict__.get("selection_")
            last = selection_inside(selection, self._terms(), unit)
            before = Streamed(stream, {} if last is None else dict(last.choice), unit, self.embedding_[:0])
        if before is None or before.early is not None:
            problem = self._begin(batch, before, unit, rng)
        else:
            problem = self._continue(batch, before, rng)
        self.n_samples_seen_ = self.__dict__.get("n_samples_seen_", 0) + X.shape[0]
        self.n_steps_ = self.__dict__.get("n_steps_", 0) + 1
        seed = int(rng.randint(np.iinfo(np.int32).max))
        self._assignment = Assignment(self._streamed.recent, self.assign, seed)
        self._bring_outside(replace(unit, powers=self._powers(problem.terms)) if unit.exponent else unit)

    def _stream_labels(self, y: Any, n_samples: int) -> IntArray | None:
        """What the method uses of the labels of a batch."""
        return self._labels(y, n_samples)

    def _begin(self, batch: Samples, before: Streamed | None, unit: Unit, rng: np.random.RandomState) -> Problem:
        """Fit the first samples, and let the stream begin when there are enough."""
        samples = batch.after(None if before is None else before.early)
        n, options = samples.X.shape[0], Options(self.max_iter, self.tol, inner=True)
        telling = samples.telling()
        if before is None:
            problem, chosen = self._chosen(samples, unit, rng, options)
        else:
            problem, chosen = self._posed(samples, unit, rng, before.chosen), before.chosen
        check_streams(problem)
        needed = START_ROWS * problem.n_components
        enough, standing = telling.sum() >= needed, self._standing_rows(samples)
        # Samples without entries leave components of zeros, from which nothing continues.
        Ht = before.stream.Ht if before is not None and before.stream.Ht.any() else None
        with problem.at_work():
            if before is None or Ht is None or enough or n >= GROWTH * before.fitted:
                minimum, fitted = fit_anew(problem, Ht, options), n
                stream = begin_stream(problem, minimum, samples.total, standing)
            else:
                given = Stream.begun(Ht, (), samples.total)
                minimum, stream = take_batch(problem, given, standing)
                fitted = before.fitted
        # Many samples without any entry are not kept, but the last row is: the stream has not begun.
        telling[-1] = True
        kept = None if enough else samples.kept() if n < needed else samples.chosen(np.flatnonzero(telling))
        recent = np.zeros((0, problem.n_components), samples.X.dtype) if before is None else before.recent
        after = Streamed(stream, chosen, unit, recent, kept, fitted)
        self._learn(problem, minimum, batch, after)
        return problem

    def _continue(self, batch: Samples, before: Streamed, rng: np.random.RandomState) -> Problem:
        """Fit a batch beside what is left of earlier ones."""
        stream, share, lead = before.stream.faded(batch.total, self.forget_factor)
        latest = (*(held.weighed(share) for held in before.held), batch if lead == 1 else batch.weighed(lead))
        samples = None if before.standing is None else before.standing.weighed(share)
        for part in latest:
            samples = part.after(samples)
        assert samples is not None  # the batch
        problem = self._posed(samples, before.unit, rng, before.chosen)
        held = self._to_hold(latest, stream, lead * HELD_ROWS * problem.n_components)
        if problem.n_components != stream.Ht.shape[1]:
            raise ValueError(
                f"n_components={problem.n_components}, but the stream began with {stream.Ht.shape[1]}, and their "
                "number stays. Use clone to begin another stream."
            )
        check_streams(problem)
        with problem.at_work():
            minimum, stream = take_batch(problem, stream, self._standing_rows(samples, held))
        self._learn(problem, minimum, batch, replace(before, stream=stream, held=tuple(part.kept() for part in held)))
        return problem

    def _to_hold(self, latest: tuple[Samples, ...], stream: Stream, most: float) -> tuple[Samples, ...]:
        """The latest batches that are to be fitted again with the next one."""
        if all(past.offers_quadratic for past in stream.pasts):
            return ()
        held = latest[-HELD_BATCHES:]
        while held and sum(part.total for part in held) > most:
            held = held[1:]
        return held

    def _posed(self, samples: Samples, unit: Unit, rng: np.random.RandomState, chosen: Mapping[str, Any]) -> Problem:
        """What is to be minimised over the codes of some samples and the components."""
        operand = self._operand(samples.X, samples.weight)
        warn_unknown(operand)
        options = Options(self.max_iter, self.tol, inner=True)
        return self._problem(operand, samples.labels, rng, options, unit).with_values(chosen)

    def _chosen(
        self, samples: Samples, unit: Unit, rng: np.random.RandomState, options: Options
    ) -> tuple[Problem, dict[str, Any]]:
        """The problem of the first batch, which chooses the open parameters."""
        grids = open_parameters(self, self._selectable)
        n, m = samples.X.shape
        if isinstance(self.n_components, Integral):
            needed = 6 * (n + m) * self.n_components * samples.X.dtype.itemsize
            check_fits(needed, f"n_components={self.n_components} on {m} features", "Choose fewer components.")
        problem = self._posed(samples, unit, rng, {})
        if not grids:
            return problem, {}
        with problem.at_work():
            choice = choose(problem, grids_inside(grids, self._terms(), unit, samples.X.dtype), self.assign, options)
        self.selection_ = selection_outside(choice.selection, problem.terms, unit)
        return choice.problem, dict(choice.selection.choice)

    def _standing_rows(self, samples: Samples, held: tuple[Samples, ...] = ()) -> IntArray:
        """The rows of the present problem that stay as samples: those held, which are the last ones."""
        n = samples.X.shape[0]
        return np.arange(n - sum(part.X.shape[0] for part in held), n)

    def _learn(self, problem: Problem, minimum: Minimum, batch: Samples, after: Streamed) -> None:
        """Set the fitted attributes, in the unit of the fit, from where a batch ended."""
        self._unit, self._coding_domain = Unit(), NON_NEGATIVE
        self._losses = [loss for term in problem.terms if (loss := term.scoring()) is not None]
        self._record(minimum.result)
        self._settle(problem, minimum)
        n = batch.X.shape[0]
        self.embedding_ = self.embedding_[-n:].copy()
        recent = np.concatenate([after.recent, self.embedding_])[-max(RECENT, n) :]
        self._streamed = replace(after, recent=recent)
