"""All cases; a new estimator joins them by being exported."""

import file_cases
import label_cases
import persistence_cases
import run_cases
import shape_cases
import sparse_cases
import type_cases
import value_cases

CASES = [
    *value_cases.CASES,
    *type_cases.CASES,
    *shape_cases.CASES,
    *sparse_cases.CASES,
    *label_cases.CASES,
    *run_cases.CASES,
    *persistence_cases.CASES,
    *file_cases.CASES,
]
