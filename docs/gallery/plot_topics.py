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

MODULES = (
    "argparse asyncio calendar email http ipaddress logging multiprocessing pathlib random sqlite3 tarfile tkinter"
)
MODULES = [*MODULES.split(), "turtle", "unittest", "xml", "zipfile"]
library = Path(sysconfig.get_path("stdlib"))
texts, origin = [], []
for module in MODULES:
    there = library / module
    for file in sorted(there.rglob("*.py")) if there.is_dir() else [there.with_suffix(".py")]:
        if not file.is_file() or "test" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = ast.get_docstring(node) or ""
                if len(text.split()) >= 15:
                    texts.append(text)
                    origin.append(module)
print(len(texts), "docstrings of", len(set(origin)), "modules")

# %%
# Count words, learn topics
# -------------------------
from sklearn.feature_extraction.text import TfidfVectorizer

from partwise import NMF
from partwise.plots import ComponentsDisplay, top_features

vectorizer = TfidfVectorizer(stop_words="english", token_pattern="[a-z]{3,}", min_df=4, max_df=0.2)
X = vectorizer.fit_transform(texts)
words = vectorizer.get_feature_names_out()
model = NMF(12, assign="argmax", random_state=0).fit(X)
print(top_features(model, words, 8))

# %%
# Topics as bars
# --------------
# The caption is the module from which most docstrings of the topic come. The model has not seen it.
captions = []
for topic in range(12):
    modules = Counter(module for module, label in zip(origin, model.labels_, strict=True) if label == topic)
    captions.append(modules.most_common(1)[0][0] if modules else "none")
ComponentsDisplay.from_estimator(model, feature_names=words, captions=captions, n_features=6)
plt.show()
