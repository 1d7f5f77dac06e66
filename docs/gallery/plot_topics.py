"""
What are these texts about?
===========================

A topic is a component: a list of words that occur together. The texts are on every machine that has Python: the
docstrings of its standard library. Nothing says which module a docstring comes from, and the topics find out.
"""

# %%
# Collect the docstrings
# ----------------------
import ast
import sysconfig
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt

MODULES = ["asyncio", "calendar", "difflib", "email", "logging", "statistics", "tarfile", "turtle", "unittest"]
library = Path(sysconfig.get_path("stdlib"))
texts, origin = [], []
for module in MODULES:
    there, found = library / module, []
    for file in sorted(there.rglob("*.py")) if there.is_dir() else [there.with_suffix(".py")]:
        if "test" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = ast.get_docstring(node) or ""
                found += [text] if len(text.split()) >= 10 else []
    longest = sorted(found, key=len)[-40:]
    texts += longest
    origin += [module] * len(longest)
print(len(texts), "docstrings of", len(MODULES), "modules")

# %%
# Count words, learn topics
# -------------------------
from sklearn.feature_extraction.text import TfidfVectorizer

from partwise import NMF
from partwise.plots import ComponentsDisplay, top_features

vectorizer = TfidfVectorizer(stop_words="english", token_pattern="[a-z]{3,}", min_df=4, max_df=0.2, sublinear_tf=True)
X = vectorizer.fit_transform(texts)
words = vectorizer.get_feature_names_out()
model = NMF(9, assign="argmax", random_state=0).fit(X)
print(top_features(model, words, 8))

# %%
# Topics as bars
# --------------
# The caption is the module from which most docstrings of the topic come, and their share. The model has not seen it.
captions = []
for topic in range(9):
    modules = Counter(module for module, label in zip(origin, model.labels_, strict=True) if label == topic)
    [(module, count)] = modules.most_common(1)
    captions.append(f"{module} ({count / modules.total():.0%})")
ComponentsDisplay.from_estimator(model, feature_names=words, captions=captions, n_features=6, n_columns=3)
plt.show()
