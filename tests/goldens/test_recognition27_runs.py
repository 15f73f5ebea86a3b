"""The defects of `recognition27` are real: where a language can be run here, each one is made to happen."""

from __future__ import annotations

import base64
import io
import json
import pickle  # noqa: TID251  what a case is about
import shutil
import sqlite3
import subprocess
import sys
import threading
import tracemalloc
import types
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from goldens.load import load_suite


def source(case: str) -> bytes:
    """The file of a case after the change."""
    pull = next(pull for pull in load_suite("recognition27").pulls if pull.id == case)
    assert isinstance(pull.source, tuple)
    (content,) = pull.source[1].files.values()
    return content


# --- Python -----------------------------------------------------------------------------------------------------


@pytest.fixture
def module(request: pytest.FixtureRequest) -> Iterator[Any]:
    name = f"case_{request.param.replace('-', '_')}"
    made = types.ModuleType(name)
    sys.modules[name] = made
    exec(compile(source(request.param), request.param, "exec"), made.__dict__)
    yield made
    del sys.modules[name]


def case(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("module", [name], indirect=True)


@case("py-price-import")
def test_a_failing_store_goes_unnoticed(module: Any) -> None:
    stored: list[Decimal] = []

    def fails(price: Any) -> None:
        raise KeyboardInterrupt

    lines = ["article;price", "A1;1,50", "A2;", "A3;2"]
    assert module.import_prices(lines, lambda price: stored.append(price.amount)) == 2
    assert stored == [Decimal("1.50"), Decimal("2")]
    assert module.import_prices(lines, fails) == 0


@case("py-host-check")
def test_a_second_command_is_run(module: Any) -> None:
    assert "41 and 1" in module.check_form({"host": "; echo $((40 + 1)) and 1"}).output


@case("py-signed-downloads")
def test_the_key_is_in_the_source_and_signs(module: Any) -> None:
    assert module.SIGNING_KEY in source("py-signed-downloads")
    assert "signature=" in module.timed_link(module.File(7, "bill.pdf"), 1_900_000_000)


class Foreign:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (Decimal, ("42",))


@case("py-saved-filters")
def test_a_cookie_calls_a_function_of_its_makers_choice(module: Any) -> None:
    forged = base64.urlsafe_b64encode(pickle.dumps(Foreign())).decode()
    assert module.from_cookie(forged) == Decimal("42")
    assert module.from_cookie(module.to_cookie(module.Filters(country="FR"))) == module.Filters(country="FR")


@case("py-attachments")
def test_a_name_climbs_out_of_its_folder(module: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"not for you")
    attachments = module.Attachments(tmp_path / "tickets")
    attachments.add(1, "txt", b"fine")
    assert attachments.read(1, "../../secret") == b"not for you"
    assert attachments.read(1, str(tmp_path / "secret")) == b"not for you"


@case("py-order-lookup")
def test_the_order_of_rows_tells_what_is_in_another_table(module: Any) -> None:
    database = sqlite3.connect(":memory:")
    database.executescript(
        "CREATE TABLE orders (id, customer, placed, total); INSERT INTO orders VALUES (1, 'a', 1, 9), (2, 'a', 2, 5);"
        "CREATE TABLE people (password); INSERT INTO people VALUES ('hunter2');"
    )

    def first(guess: str) -> object:
        test = f"CASE WHEN (SELECT password FROM people) LIKE '{guess}%' THEN id ELSE -id END"
        return module.orders(database, {"customer": "a", "sort": test})[0][0]

    assert (first("h"), first("x")) == (1, 2)
    database.close()


class Inside(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<title>internal console</title>")

    def log_message(self, format: str, *args: object) -> None:
        return


@case("py-link-preview")
def test_the_server_asks_an_internal_address(module: Any) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Inside) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            preview = module.preview(f"see http://127.0.0.1:{server.server_port}/admin please")
        finally:
            server.shutdown()
            thread.join()
    assert preview.title == "internal console"


@case("py-local-accounts")
def test_two_people_with_one_password_have_one_digest(module: Any) -> None:
    one, other = module.Account("a@shop.example"), module.Account("b@shop.example")
    one.set_password("hunter2")
    other.set_password("hunter2")
    assert one.password == other.password == "2ab96390c7dbe3439de74d0c9b0b1767"


@case("py-upload-archives")
def test_a_few_kilobytes_fill_the_memory(module: Any) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("large.png", b"\0" * 60_000_000)
    assert len(packed.getvalue()) < 100_000
    tracemalloc.start()
    with pytest.raises(ValueError, match="larger than"):
        module.accept_archive(packed.getvalue())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak > 2 * module.MOST_BYTES


# --- JavaScript and TypeScript ----------------------------------------------------------------------------------

TYPES = frozenset(
    {
        "interface_declaration",
        "type_alias_declaration",
        "type_annotation",
        "type_arguments",
        "type_predicate_annotation",
    }
)
PARSER = Parser(Language(tree_sitter_typescript.language_typescript()))


def without_types(code: bytes) -> str:
    """TypeScript as JavaScript: what only a compiler reads is cut out. Enough for these files, and no more."""
    cuts: list[tuple[int, int]] = []
    stack: list[Node] = [PARSER.parse(code).root_node]
    while stack:
        node = stack.pop()
        if node.type in TYPES:
            cuts.append((node.start_byte, node.end_byte))
        elif node.type == "as_expression":
            cuts.append((node.children[0].end_byte, node.end_byte))
            stack.append(node.children[0])
        elif node.type == "import_statement" and b"import type" in (node.text or b""):
            cuts.append((node.start_byte, node.end_byte))
        else:
            stack += node.children
    for start, end in sorted(cuts, reverse=True):
        code = code[:start] + code[end:]
    return code.decode().replace("export ;", "").replace("export \n", "\n")


def node(tmp_path: Path, case: str, script: str) -> Any:
    """What a script prints as JSON, run after the code of a case."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not here")
    code = source(case).decode() if case.startswith("js-") else without_types(source(case))
    name = "case.cjs" if case.startswith("js-") else "case.mjs"
    (tmp_path / name).write_text(f"{code}\n{script}\n", encoding="utf-8")
    done = subprocess.run([program, name], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_formula_runs_as_code_of_the_server(tmp_path: Path) -> None:
    script = """
    const column = { name: 'x', formula: 'process.version' };
    console.log(JSON.stringify(table({ body: { columns: [column] } }, [{ price: 1 }])));
    """
    head, row = node(tmp_path, "js-column-formulas", script)
    assert head == ["x"]
    assert row[0].startswith("v")


def test_heavy_freight_is_promised_as_early_as_any_parcel(tmp_path: Path) -> None:
    script = """
    const at = (weight) => arrival({ weight, express: false }, new Date(0), new Set(['1970-01-05'])).toISOString();
    console.log(JSON.stringify([at(21), at(40)]));
    """
    assert node(tmp_path, "ts-delivery-estimate", script) == ["1970-01-06T00:00:00.000Z"] * 2


def test_the_payment_page_opens_before_anything_is_reserved(tmp_path: Path) -> None:
    script = """
    const told = [];
    const later = (word) => new Promise((done) => setTimeout(() => { told.push(word); done(9); }, 5));
    const stock = { available: async () => 9, reserve: () => later('reserved') };
    const payments = { open: async () => { told.push('opened'); return '/pay'; } };
    await checkout(stock, payments, 'b', [{ article: 'a', amount: 1 }]);
    console.log(JSON.stringify(told));
    """
    assert node(tmp_path, "ts-stock-reservation", script) == ["opened"]


def test_a_theme_plants_a_property_on_every_object(tmp_path: Path) -> None:
    script = """
    const before = ({}).isAdmin;
    themeOf({ body: '{"__proto__": {"isAdmin": true}, "spacing": {"small": 2}}' });
    console.log(JSON.stringify([before ?? null, ({}).isAdmin]));
    """
    assert node(tmp_path, "ts-theme-settings", script) == [None, True]


def test_each_further_letter_doubles_the_time_of_the_pattern(tmp_path: Path) -> None:
    script = """
    const time = (letters) => {
      const start = process.hrtime.bigint();
      isTagList('a'.repeat(letters) + '!');
      return Number(process.hrtime.bigint() - start);
    };
    const best = (letters) => Math.min(...[1, 2, 3, 4, 5].map(() => time(letters)));
    time(10);
    console.log(JSON.stringify([best(14), best(22), isTagList('red, dark blue, 4k')]));
    """
    short, long, sound = node(tmp_path, "ts-tag-lists", script)
    assert sound is True
    assert long > 20 * short


def test_a_single_coupon_is_taken_apart_or_refused(tmp_path: Path) -> None:
    script = """
    const ask = (coupon) => { try { return codesOf({ query: { coupon } }); } catch (error) { return error.name; } };
    console.log(JSON.stringify([ask(['a1', ' b2']), ask('abc'), ask('SUMMER'), ask(undefined)]));
    """
    assert node(tmp_path, "ts-coupon-limit", script) == [["A1", "B2"], ["A", "B", "C"], "RangeError", "TypeError"]


def test_a_draft_becomes_markup(tmp_path: Path) -> None:
    script = """
    const target = {};
    showPreview(target, { author: 'me', text: '<img src=x onerror=alert(1)>' });
    console.log(JSON.stringify(target.innerHTML));
    """
    assert "<img src=x onerror=alert(1)>" in node(tmp_path, "ts-comment-preview", script)


def test_the_long_cookie_has_no_flags(tmp_path: Path) -> None:
    script = """
    const set = [];
    const response = { cookie: (name, token, options) => set.push(Object.keys(options).sort()) };
    await remember({ save: async () => {} }, response, 1);
    await begin({ save: async () => {} }, response, 1);
    console.log(JSON.stringify(set));
    """
    assert node(tmp_path, "ts-remember-me", script) == [["expires", "path"], ["httpOnly", "sameSite", "secure"]]


# --- compiled languages -----------------------------------------------------------------------------------------


def run(program: str, arguments: list[str], folder: Path) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not here")
    done = subprocess.run([found, *arguments], cwd=folder, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


RUST = """
fn main() {
    let header = |width: u32, height: u32| [width.to_le_bytes(), height.to_le_bytes(), [0; 4]].concat();
    let huge = image::Image::read(&header(65536, 65536)).expect("read");
    let white = [header(80, 1), vec![255; 320]].concat();
    let grey = [header(20, 1), vec![255; 80]].concat();
    let bright = |data: &[u8]| image::Image::read(data).and_then(|found| found.brightness(0)).expect("a row");
    println!("{} {} {} {}", huge.header.width, huge.pixels.len(), bright(&white), bright(&grey));
}
"""


def test_sizes_and_sums_wrap_in_a_release_build(tmp_path: Path) -> None:
    (tmp_path / "image.rs").write_bytes(source("rust-image-header"))
    (tmp_path / "main.rs").write_text("mod image;\n" + RUST, encoding="utf-8")
    run("rustc", ["--edition", "2021", "-O", "-o", "main", "main.rs"], tmp_path)
    assert run(str(tmp_path / "main"), [], tmp_path).split() == ["65536", "0", "50", "255"]


JAVA = """
package shop.accounts;
public final class Guess {
    public static void main(String[] arguments) {
        long before = System.currentTimeMillis();
        String code = new Tokens().reset();
        for (long seed = before; seed <= System.currentTimeMillis(); seed++) {
            java.util.Random digits = new java.util.Random(seed);
            StringBuilder guess = new StringBuilder();
            for (int at = 0; at < 8; at++) {
                guess.append(digits.nextInt(10));
            }
            if (guess.toString().equals(code)) {
                System.out.println("guessed");
            }
        }
    }
}
"""


def test_a_reset_code_is_guessed_from_the_clock(tmp_path: Path) -> None:
    (tmp_path / "Tokens.java").write_bytes(source("java-reset-codes"))
    (tmp_path / "Guess.java").write_text(JAVA, encoding="utf-8")
    run("javac", ["-d", "out", "Tokens.java", "Guess.java"], tmp_path)
    assert run("java", ["-cp", "out", "shop.accounts.Guess"], tmp_path).split() == ["guessed"]
