from __future__ import annotations

import subprocess
import sys

MODULES = "agreement bootstrap bradley_terry capture clusters noise overlap paired power ranks strata"
HEAVY = ("numpy", "scipy", "statsmodels", "pandas", "krippendorff")


def test_importing_the_statistics_imports_no_heavy_library() -> None:
    asked = "; ".join(f"import scoring.statistics.{name}" for name in MODULES.split())
    shown = f"{asked}; import sys; print([name for name in {HEAVY} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
