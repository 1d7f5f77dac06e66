"""`tests/` mirrors `src/`: a large module has a test file of its name, or is listed here with where it is tested.

The file of room/module.py is room/test_module.py, or room/test_WORD_module.py where another room has a module, and so a
test file, of that name. Every public estimator has one, however short it is.
"""

import ast
from pathlib import Path

import pytest

import partwise

TESTS = Path(__file__).parent
PACKAGE = Path(partwise.__file__).parent
LINES = 150

# Modules that are tested together with others, or through what is built on them.
ELSEWHERE = {
    "callbacks/base": "callbacks/test_callbacks",
    "callbacks/watching": "callbacks/test_callbacks",
    "cli/arguments": "cli/test_cli, cli/test_fit_apply",
    "cli/compare": "cli/test_cli, cli/test_compare_files",
    "cli/display": "cli/test_streams",
    "clusters/assignment": "core/test_spread_operand",
    "core/annotated": "test_annotated",
    "core/block_rows": "core/test_spread_links",
    "core/block_tasks": "core/test_spread_operand",
    "core/domains": "solvers/test_domains",
    "core/dual": "terms/test_dual, oracles/test_similarity_rules",
    "core/fixed": "estimators/test_known_components",
    "core/spread": "core/test_spread_operand",
    "core/spread_rows": "core/test_spread_operand",
    "core/storage": "core/test_operand",
    "core/term": "terms/test_all_terms",
    "datasets/catalogue": "datasets/test_datasets",
    "estimators/base": "estimators/test_common, estimators/test_bad_input, solvers/test_loop",
    "estimators/dual": "estimators/test_signed_data, estimators/test_local_similarity_nmf",
    "estimators/feature_maps": "estimators/test_signed_data, oracles/test_similarity_rules",
    "estimators/grouped": "estimators/test_group_nmf",
    "estimators/posing": "solvers/test_problem, core/test_spread_operand",
    "estimators/units": "reliability/test_units, reliability/test_open_units, reliability/test_invariance",
    "estimators/validation": "estimators/test_bad_input, estimators/test_messages",
    "experiments/outcomes": "experiments/test_comparison, report/test_saving",
    "experiments/plan": "experiments/test_protocols, experiments/test_runner",
    "experiments/protocol": "experiments/test_protocols",
    "experiments/tables": "experiments/test_protocols",
    "experiments/verdicts": "experiments/test_protocols, experiments/test_results",
    "files/archive": "files/test_writing, test_persistence",
    "files/layout": "files/test_written_tables",
    "files/plain": "test_persistence, test_saved_parameters",
    "kernels/chunks": "kernels/test_logarithms, kernels/test_compiled_dispersion",
    "kernels/descent": "kernels/test_kernels",
    "kernels/log_models": "kernels/test_logarithms",
    "kernels/neighbors": "graphs/test_searches, graphs/test_cells, graphs/test_pairs",
    "kernels/robust": "terms/test_robust",
    "kernels/safeguards": "solvers/test_entry_steps, solvers/test_codes",
    "plots/choices": "plots/test_displays, plots/test_curves",
    "plots/codes": "plots/test_displays",
    "plots/components": "plots/test_displays",
    "plots/convergence": "plots/test_displays, plots/test_views",
    "report/charts": "report/test_markup",
    "report/comparison": "report/test_saving, cli/test_compare_files",
    "report/learned": "report/test_saving, report/test_in_browser",
    "report/reproduction": "experiments/test_results, report/test_in_browser",
    "selection/grids": "selection/test_choice",
    "selection/record": "selection/test_choice, plots/test_views",
    "selection/trials": "selection/test_choice",
    "solvers/extrapolation": "solvers/test_never_rises, solvers/test_stationary, solvers/test_defaults_converge",
    "solvers/starting": "solvers/test_starts, solvers/test_loop",
    "solvers/systems": "solvers/test_masks, kernels/test_kernels",
    "terms/local_coordinates": "terms/test_local_terms",
    "terms/local_learning": "terms/test_local_terms",
    "terms/overdispersed": "terms/test_all_terms, estimators/test_dispersion",
    "testing": "terms/test_all_terms",
}


def large_modules():
    """Modules of the package by their path, without suffix."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if len(path.read_text(encoding="utf-8").splitlines()) >= LINES and path.name != "__init__.py":
            yield path.relative_to(PACKAGE).with_suffix("").as_posix()


def public_estimators():
    """The modules that define them."""
    for path in sorted((PACKAGE / "estimators").glob("*.py")):
        defined = {node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.ClassDef)}
        if defined & set(partwise.estimators.__all__):
            yield path.relative_to(PACKAGE).with_suffix("").as_posix()


def has_a_test_file(module):
    folder, name = (TESTS / module).parent, Path(module).name
    return (folder / f"test_{name}.py").is_file() or any(folder.glob(f"test_*_{name}.py"))


@pytest.mark.parametrize("module", list(large_modules()))
def test_a_large_module_has_tests_that_can_be_found(module):
    assert has_a_test_file(module) or module in ELSEWHERE, (
        f"There is no tests/{Path(module).parent}/test_{Path(module).name}.py; write it, or say in ELSEWHERE where "
        f"{module}.py is tested."
    )


@pytest.mark.parametrize("module", list(public_estimators()))
def test_a_public_estimator_has_tests_of_its_own(module):
    assert has_a_test_file(module)


@pytest.mark.parametrize("module", ELSEWHERE)
def test_the_list_is_true(module):
    assert (PACKAGE / f"{module}.py").is_file(), f"{module}.py has gone; take it off the list."
    for place in ELSEWHERE[module].split(", "):
        assert (TESTS / f"{place}.py").is_file(), f"{module}: there is no tests/{place}.py."
