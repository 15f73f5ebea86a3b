"""The thirteen kinds of defect, and the rewrites that only look like one."""

from __future__ import annotations

from goldens.synth.model import Kind, Operator
from goldens.synth.operators.calls import hardcoded_secret, missing_await, sql_injection, xss
from goldens.synth.operators.comparisons import off_by_one, wrong_comparison
from goldens.synth.operators.equivalent import equivalents
from goldens.synth.operators.guards import missing_input_validation, missing_null_check, missing_rate_limit
from goldens.synth.operators.handling import missing_error_handling, resource_leak
from goldens.synth.operators.queries import n_plus_one, unbounded_query
from scoring.model import Category, Severity

__all__ = ["OPERATORS", "equivalents"]

OPERATORS: tuple[Operator, ...] = (
    Operator("off-by-one", off_by_one, Kind.LOGIC, Category.CORRECTNESS, Severity.MEDIUM),
    Operator("wrong-comparison", wrong_comparison, Kind.LOGIC, Category.CORRECTNESS, Severity.HIGH),
    Operator("missing-null-check", missing_null_check, Kind.LOGIC, Category.CORRECTNESS, Severity.HIGH),
    Operator(
        "missing-await",
        missing_await,
        Kind.LOGIC,
        Category.CORRECTNESS,
        Severity.HIGH,
        languages=("typescript", "python"),
    ),
    Operator("resource-leak", resource_leak, Kind.LOGIC, Category.RESOURCES, Severity.MEDIUM),
    Operator("sql-injection", sql_injection, Kind.SECURITY, Category.SECURITY, Severity.CRITICAL),
    Operator("xss", xss, Kind.SECURITY, Category.SECURITY, Severity.HIGH),
    Operator("hardcoded-secret", hardcoded_secret, Kind.SECURITY, Category.SECURITY, Severity.HIGH),
    Operator("n-plus-one-query", n_plus_one, Kind.PERFORMANCE, Category.PERFORMANCE, Severity.MEDIUM),
    Operator("unbounded-query", unbounded_query, Kind.PERFORMANCE, Category.PERFORMANCE, Severity.MEDIUM),
    Operator("missing-rate-limit", missing_rate_limit, Kind.ARCHITECTURE, Category.API, Severity.MEDIUM),
    Operator("missing-input-validation", missing_input_validation, Kind.ARCHITECTURE, Category.API, Severity.MEDIUM),
    Operator(
        "missing-error-handling", missing_error_handling, Kind.BEST_PRACTICE, Category.ERROR_HANDLING, Severity.MEDIUM
    ),
)
"""In the order in which a suite gives them their shares."""
