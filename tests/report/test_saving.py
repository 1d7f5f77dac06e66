"""One call from a model or from data to a page."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from partwise import NMF, GraphNMF
from partwise.report import save_comparison_page, save_model_page
from partwise.testing import all_estimators

X, y = load_digits(n_class=3, return_X_y=True)
X, y = X[:60], y[:60]


@pytest.fixture(scope="module")
def model():
    return GraphNMF(3, graph_strength=[1.0, 10.0], max_iter=10, tol=0, random_state=0).fit(X)


def test_page_of_a_model_has_everything(model, tmp_path):
    save_model_page(tmp_path / "model.html", model, X, y, image_shape=(8, 8), name="digits <1>")
    text = (tmp_path / "model.html").read_text("utf-8")
    for key in ("components", "map", "codes", "selection", "confusion", "convergence", "settings"):
        assert f'<section id="{key}"' in text or f'id="{key}"' in text, key
    assert "digits &lt;1&gt;: a fitted model" in text
    assert "accuracy 0." in text or "accuracy 1." in text


def test_classes_choices_and_images_may_be_unknown(tmp_path):
    frame = pd.DataFrame(np.where(X > 15, np.nan, X), columns=[f"pixel {f}" for f in range(64)])
    plain = NMF(2, missing="nan", max_iter=5, tol=0, random_state=0).fit(frame)
    save_model_page(tmp_path / "model.html", plain, frame)
    text = (tmp_path / "model.html").read_text("utf-8")
    assert 'id="selection"' not in text
    assert 'id="confusion"' not in text
    assert "pixel 1" in text


def test_what_does_not_fit_is_refused(model, tmp_path):
    with pytest.raises(ValueError, match="X has 10 samples; the model was fitted to 60"):
        save_model_page(tmp_path / "model.html", model, X[:10])
    with pytest.raises(ValueError, match=r"X has 64 features, but image_shape \(9, 7\) is that of 63"):
        save_model_page(tmp_path / "model.html", model, X, image_shape=(9, 7))
    with pytest.raises(ValueError, match="X has 64 features, but feature_names names 1"):
        save_model_page(tmp_path / "model.html", model, X, feature_names=["one"])
    with pytest.raises(NotFittedError):
        save_model_page(tmp_path / "model.html", GraphNMF(3), X)
    assert not list(tmp_path.iterdir())


def test_every_model_has_a_page_or_a_sentence_why_not(tmp_path):
    without = {}
    for name, estimator in all_estimators().items():
        fitted = estimator(n_components=2, random_state=0)
        groups = {"groups": np.arange(60) % 2} if name == "GroupNMF" else {}
        fitted = fitted.fit(X, **groups)
        try:
            save_model_page(tmp_path / "model.html", fitted, X)
        except ValueError as error:
            without[name] = str(error)
    assert without == {
        "KernelGraphNMF": "This KernelGraphNMF has no components in the features of X.",
        "LatentSemanticKMeans": "This LatentSemanticKMeans has no sweeps that a history could record.",
        "LocalLearningClustering": "This LocalLearningClustering has no components in the features of X.",
        "NormalizedCut": "This NormalizedCut has no components in the features of X.",
    }


def test_page_of_a_comparison(tmp_path):
    methods = {"plain": NMF(3, max_iter=5, tol=0, random_state=0)}
    found = save_comparison_page(tmp_path / "page.html", X, y, methods, image_shape=(8, 8), seed=1)
    text = (tmp_path / "page.html").read_text("utf-8")
    assert [outcome.name for outcome in found.outcomes] == ["plain"]
    assert "<dt>seed</dt><dd>1</dd>" in text
    assert 'class="tiles"' in text


def test_a_comparison_opens_with_who_won(tmp_path):
    methods = {"good": NMF(3, max_iter=20, tol=0, random_state=0), "poor": NMF(1, max_iter=2, tol=0, random_state=0)}
    for labels, sentence in ((y, r"good is best: [\d.]+% of the samples"), (None, r"Without labels: \w+ has the best")):
        found = save_comparison_page(tmp_path / "page.html", X, labels, methods)
        text = (tmp_path / "page.html").read_text("utf-8")
        assert re.search(sentence, text)
        assert text.index('id="components"') < text.index('id="map"') < text.index('id="convergence"')
    assert all(outcome.silhouette is not None and outcome.accuracy is None for outcome in found.outcomes)


def topics(path, models, samples, **options):
    """Lines of words under the tabs, and the page."""
    save_comparison_page(path, samples, None, models, **options)
    text = path.read_text("utf-8")
    assert text.count('type="radio"') == len(models)
    assert text.count(" checked") == 1
    lines = re.findall(r"<li>([^<]*)</li>", text[text.index('class="tabs"') : text.index('id="map"')])
    return [line.split(", ") for line in lines], text


def test_words_are_lines_under_tabs_without_common_ones(tmp_path):
    names = [*(f"word{f}" for f in range(63)), "the"]
    often = np.column_stack([X[:, :-1], np.full(60, 30.0)])
    models = {"a": NMF(2, max_iter=3, tol=0, random_state=0), "b": NMF(2, max_iter=3, tol=0, random_state=1)}
    lines, text = topics(tmp_path / "page.html", models, sp.csr_array(often), feature_names=names)
    assert [len(line) for line in lines] == [10] * 4
    assert not any("the" in line for line in lines)
    assert "without common English words" in text
    # A column of a table may be called like that.
    lines, text = topics(tmp_path / "page.html", models, often, feature_names=names)
    assert any("the" in line for line in lines)
    assert "common English words" not in text


def test_topics_of_all_methods_are_in_one_order(tmp_path):
    """Without labels, the first method begins with its largest topic, and the others follow it."""
    rng = np.random.RandomState(0)
    blocks = np.kron(np.eye(2), np.ones((1, 12)))
    samples = sp.csr_array(rng.poisson(6 * blocks[np.repeat([0, 1], [45, 15])]) + 0.0)
    names = [*(f"large{f}" for f in range(12)), *(f"small{f}" for f in range(12))]
    start = np.eye(2)[np.repeat([0, 1], [45, 15])] + 0.1, blocks + 0.1
    models = {
        str(order): NMF(2, init=(start[0][:, order], start[1][order]), max_iter=9, tol=0) for order in ([1, 0], [0, 1])
    }
    lines, _ = topics(tmp_path / "page.html", models, samples, feature_names=names)
    assert [line[0][:5] for line in lines] == ["large", "small"] * 2


def test_pages_of_tables_and_of_sparse_words(tmp_path):
    """Columns of a data frame are named, and so are the features of a sparse matrix; labels may be missing."""
    table = pd.DataFrame(X[:, :8], columns=[f"gene {i}" for i in range(8)], index=[f"cell {i}" for i in range(60)])
    fitted = NMF(3, max_iter=5, tol=0, random_state=0).fit(table)
    save_model_page(tmp_path / "table.html", fitted, table)
    text = (tmp_path / "table.html").read_text("utf-8")
    assert "gene 3" in text
    assert "cell 0" in text
    words = sp.csr_matrix(X)
    methods = {"plain": NMF(3, max_iter=5, tol=0, random_state=0)}
    names = [f"word{i}" for i in range(64)]
    save_comparison_page(tmp_path / "words.html", words, None, methods, feature_names=names, n_components=3)
    text = (tmp_path / "words.html").read_text("utf-8")
    assert "word2" in text
    assert 'id="confusion"' not in text


@pytest.mark.parametrize("known", [True, False])
def test_colours_of_a_map_have_a_key(known, tmp_path):
    methods = {"fit": NMF(3, max_iter=5, tol=0, random_state=0)}
    save_comparison_page(tmp_path / "page.html", X, y if known else None, methods)
    section = (tmp_path / "page.html").read_text("utf-8").split('id="map"')[1].split("</section>")[0]
    key = section.split('class="legend"')[1].split("</ul>")[0]
    expected = ["0", "1", "2"] if known else ["cluster 0", "cluster 1", "cluster 2"]
    assert re.findall(r"</svg>([^<]+)</li>", key) == expected
