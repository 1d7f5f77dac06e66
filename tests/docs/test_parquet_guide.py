"""The source of parquet files in the guide, as it is printed there: a fit to a folder of them is one to their rows."""

import re
from pathlib import Path

import numpy as np
import pytest

from partwise import NMF

PAGE = Path(__file__).parents[2] / "docs" / "site" / "guide" / "large-data.md"


def test_a_folder_of_parquet_files(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (block,) = (code for code in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S) if "Parquet" in code)
    names = {}
    exec(block, names)
    X = np.random.default_rng(0).gamma(1.0, size=(700, 12)).astype(np.float32)
    for start in (0, 300):
        columns = {f"feature {j}": X[start : start + 400][: 300 if start == 0 else None, j] for j in range(12)}
        parquet.write_table(pyarrow.table(columns), tmp_path / f"{start:03}.parquet")
    source = names["ParquetFolder"](tmp_path)
    assert source.shape == X.shape
    method = NMF(3, random_state=0, max_iter=10, tol=0)
    held = method.fit(X).embedding_
    np.testing.assert_array_equal(method.fit(source).embedding_, held)
    assert method.transform(source).shape == (700, 3)
