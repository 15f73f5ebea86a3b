"""The pictures in the README, made of the demo: `make pictures`. Needs Chromium, as the browser tests do.

The pages are the App's own, written as files, so that nothing of this machine is in them but what the demo did.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page

from tests.browser.watching import launched

DOCS = Path(__file__).parents[1] / "docs"
WIDE, HIGH, TALL = 1280, 800, 6000
MOST_BYTES = 150_000
CLAIM = ".note-tp summary"
COLOURS = 64
"""Pages are drawn in few colours; so many keep the text's edges smooth."""


def main() -> None:
    """Run the demo, write its pages as files, and take their pictures."""
    with tempfile.TemporaryDirectory(prefix="assay-pictures-") as folder, launched() as browser:
        bundle = demo(Path(folder) / "data", DOCS / "leaderboard.svg")
        assay("site", str(bundle), "-o", f"{folder}/site", "--publish", "named")
        for name, picture in pictures(browser, Path(folder) / "site").items():
            (DOCS / name).write_bytes(small(picture, name))
            sys.stderr.write(f"docs/{name}: {(DOCS / name).stat().st_size} bytes\n")


def demo(data: Path, svg: Path) -> Path:
    """The bundle that the demo left."""
    assay("--quiet", "demo", "--port", "0", "--data", str(data), "--svg", str(svg))
    (bundle,) = sorted((data / "app" / "bundles").iterdir())
    return bundle


def assay(*arguments: str) -> None:
    """Run the command line, and stop where it fails."""
    subprocess.run([sys.executable, "-m", "bot", *arguments], check=True, stdout=subprocess.DEVNULL)


def pictures(browser: Browser, site: Path) -> Mapping[str, bytes]:
    """What each page looks like in the light scheme, by the name of the picture."""
    context = browser.new_context(
        viewport={"width": WIDE, "height": HIGH},
        color_scheme="light",
        reduced_motion="reduce",
        java_script_enabled=False,
    )
    page = context.new_page()
    run = next(path for path in sorted((site / "runs").glob("*.html")))
    found = {"run.png": taken(page, run), "leaderboard.png": taken(page, run.with_suffix("") / "leaderboard.html")}
    found["pull.png"] = taken(page, telling(run.with_suffix("") / "pulls"), CLAIM)
    context.close()
    return found


def telling(folder: Path) -> Path:
    """The pull request with most to see: the one on whose page the most claims stand."""
    pages = sorted(folder.glob("*.html"))
    return max(pages, key=lambda path: path.read_text(encoding="utf-8").count("<details"))


def taken(page: Page, path: Path, near: str = "") -> bytes:
    """The page as it shows first; or around what `near` names, which is opened."""
    page.goto(path.resolve().as_uri())
    if not near:
        return page.screenshot(type="png")
    page.set_viewport_size({"width": WIDE, "height": TALL})
    page.locator(near).first.click()
    box = page.locator(near).first.bounding_box()
    assert box is not None
    top = max(0.0, box["y"] - HIGH / 2)
    return page.screenshot(type="png", clip={"x": 0, "y": top, "width": WIDE, "height": HIGH})


def small(picture: bytes, name: str) -> bytes:
    """The same with a palette.

    Raises:
        ValueError: it is still too large for a README.
    """
    out = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    if out.tell() > MOST_BYTES:
        raise ValueError(f"{name} takes {out.tell()} bytes, more than {MOST_BYTES}")
    return out.getvalue()


if __name__ == "__main__":
    main()
