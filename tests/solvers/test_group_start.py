"""Starts of fits with groups: the components that a group uses alone become its own."""

import numpy as np
import pytest

from partwise import GroupNMF
from partwise.solvers.loop import Options

RNG = np.random.RandomState(0)
GROUPS = np.repeat([0, 1], 40)
# Feature blocks: three shared components, and one of each group.
BLOCKS = np.kron(np.eye(5), np.ones((1, 6)))
USED = RNG.gamma(1.0, size=(80, 5))
USED[GROUPS == 1, 3] = 0
USED[GROUPS == 0, 4] = 0
# The components of groups are the largest: singular vectors have them first.
USED[:, 3:] *= 10
X = USED @ BLOCKS + 0.01 * RNG.uniform(size=(80, 30))


def start(**settings):
    problem = GroupNMF(3, random_state=0, **settings).problem(X, groups=GROUPS)
    return problem, problem.states(Options())[0]()


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("init", ["auto", "random", "kmeans"])
def test_components_of_groups_take_their_places(loss, init):
    state = start(loss=loss, init=init)[1]
    blocks = (state.Ht.T @ BLOCKS.T).argmax(axis=1)
    assert sorted(blocks[:3]) == [0, 1, 2]
    assert blocks[3:].tolist() == [3, 4]


def test_weights_count():
    """A component that only samples without weight use in the other group is still that of its group."""
    data, weight = X.copy(), np.ones(80)
    data[-3:, 18:24] = 50
    weight[-3:] = 0
    model = GroupNMF(3, random_state=0).fit(data, sample_weight=weight, groups=GROUPS)
    assert (model.components_ @ BLOCKS.T).argmax(axis=1)[3:].tolist() == [3, 4]


def test_known_components_keep_their_places():
    known = BLOCKS[[2, 0]]
    for given in ({"fixed_components": known}, {"seed_components": known, "seed_strength": 0.0}):
        blocks = (start(**given)[1].Ht.T @ BLOCKS.T).argmax(axis=1)
        assert blocks.tolist() == [2, 0, 1, 3, 4]


def test_the_same_seed_gives_the_same_start():
    (_, one), (_, other) = start(init="random"), start(init="random")
    np.testing.assert_array_equal(one.W, other.W)
