"""Operators find their places by syntax, so code they have never seen works, and look-alikes are left alone."""

from __future__ import annotations

import pytest

from tests.goldens.synth.made import mutants

NEW = {
    ("off-by-one", "typescript"): (
        "function walk(xs: number[]) {\n  for (let k = 0; k < xs.length; k++) {\n    use(xs[k]);\n  }\n}\n",
        "k <= xs.length",
    ),
    ("off-by-one", "python"): ("def skip(page, size):\n    return (page - 1) * size\n", "return page * size"),
    ("off-by-one", "go"): (
        "package p\n\nfunc Last(v []int) int {\n\treturn v[len(v)-1]\n}\n",
        "return v[len(v)]",
    ),
    ("wrong-comparison", "go"): ("package p\n\nfunc Old(a, b int) bool {\n\treturn a >= b\n}\n", "a <= b"),
    ("wrong-comparison", "typescript"): (
        "const full = (a: number, b: number) => (a === b ? 1 : 2);\n",
        "a !== b",
    ),
    ("wrong-comparison", "python"): ("def f(a, b):\n    while True:\n        if a < b: break\n", "a > b"),
    ("missing-null-check", "typescript"): (
        "function f(u?: User) {\n  if (u == null) {\n    return 0;\n  }\n  return u.age;\n}\n",
        "{\n  return u.age;",
    ),
    ("missing-null-check", "python"): (
        "def f(find):\n    it = find()\n    if it is None:\n        return 0\n    return it.age\n",
        "it = find()\n    return it.age",
    ),
    ("missing-null-check", "go"): (
        "package p\n\nfunc F(u *User) int {\n\tfor {\n\t\tif u == nil {\n\t\t\tbreak\n\t\t}\n\t\tu = u.Next\n\t}\n}\n",
        "for {\n\t\tu = u.Next",
    ),
    ("missing-await", "python"): ("async def f(q):\n    await q.put(1)\n", "\n    q.put(1)"),
    ("missing-await", "typescript"): ("const f = async (q: Q) => {\n  await q.put(1);\n};\n", "{\n  q.put(1);"),
    ("resource-leak", "python"): (
        "def f(p):\n    with open(p) as h:\n        return h.read()\n",
        "    h = open(p)\n    return h.read()\n",
    ),
    ("resource-leak", "go"): (
        "package p\n\nfunc F(t *T) {\n\tx := t.Dial()\n\tdefer x.Close()\n\tx.Send()\n}\n",
        "Dial()\n\tx.Send()",
    ),
    ("resource-leak", "typescript"): (
        "async function f(p: P) {\n  const l = await p.take();\n  try {\n    return l.go();\n  } finally {\n"
        "    l.unlock();\n  }\n}\n",
        "await p.take();\n  return l.go();\n}",
    ),
    ("sql-injection", "typescript"): (
        'function f(db: D, who: string) {\n  return db.all("SELECT * FROM t WHERE a = ?", [who]);\n}\n',
        "`SELECT * FROM t WHERE a = '${who}'`, []",
    ),
    ("sql-injection", "python"): (
        'def f(cur, who, n):\n    cur.execute("SELECT a FROM t WHERE b = %s AND c > %s", (who, n))\n',
        "f\"SELECT a FROM t WHERE b = '{who}' AND c > %s\", (n,)",
    ),
    ("sql-injection", "go"): (
        'package p\n\nimport "fmt"\n\nfunc F(db *D, who string) {\n\tdb.Exec("DELETE FROM t WHERE a = $1", who)\n'
        "\tfmt.Println()\n}\n",
        "db.Exec(fmt.Sprintf(\"DELETE FROM t WHERE a = '%s'\", who))",
    ),
    ("xss", "typescript"): ("const f = (n: string) => `<b>${DOMPurify.sanitize(n)}</b>`;\n", None),
    ("xss", "python"): (
        "import markupsafe\n\ndef f(n, m):\n    return markupsafe.escape(n) + markupsafe.escape(m)\n",
        "return n + markupsafe.escape(m)",
    ),
    ("xss", "go"): (
        'package p\n\nimport "html/template"\n\nfunc F(a, b string) string {\n'
        "\treturn template.HTMLEscapeString(a) + template.HTMLEscapeString(b)\n}\n",
        "return a + template.HTMLEscapeString(b)",
    ),
    ("hardcoded-secret", "typescript"): ('const k = process.env["DB_PASSWORD"]!;\n', 'const k = "'),
    ("hardcoded-secret", "python"): ('import os\nK = os.getenv("DB_PASSWORD", os.sep)\nL = os.sep\n', 'K = "'),
    ("hardcoded-secret", "go"): (
        'package p\n\nimport "os"\n\nfunc F() {\n\tdial(os.Getenv("DB_TOKEN"), os.Getenv("HOST"))\n}\n',
        'os.Getenv("HOST")',
    ),
    ("n-plus-one-query", "python"): (
        "class Users:\n    def load_one(self, key: int) -> User: ...\n"
        "    def load_many(self, keys: list[int]) -> dict[int, User]: ...\n\n"
        "def f(users, ids):\n    people = users.load_many(ids)\n    return people\n",
        "for key in ids:\n        found = users.load_one(key)\n        people[key] = found",
    ),
    ("n-plus-one-query", "typescript"): (
        "interface S {\n  byKey(k: string): Promise<T>;\n  byKeys(k: string[]): Promise<Map<string, T>>;\n}\n"
        "async function f(s: S, ks: string[]) {\n  const all = await s.byKeys(ks);\n  return all;\n}\n",
        "for (const id of ks) {\n    const found = await s.byKey(id);\n    all.set(id, found);",
    ),
    ("n-plus-one-query", "go"): (
        "package p\n\ntype S interface {\n\tItem(k int) (T, error)\n\tItems(k []int) (map[int]T, error)\n}\n\n"
        "func F(s S, ks []int) error {\n\tall, err := s.Items(ks)\n\tif err != nil {\n\t\treturn err\n\t}\n"
        "\treturn use(all)\n}\n",
        "for _, id := range ks {\n\t\tfound, err := s.Item(id)\n\t\tif err != nil {\n\t\t\treturn err",
    ),
    ("unbounded-query", "typescript"): (
        "const f = (q: Q) => q.select().limit(20).all();\n",
        "q.select().all()",
    ),
    ("unbounded-query", "python"): ("def f(s, n):\n    return s.query(min(n, MAX_ROWS))\n", "s.query(n)"),
    ("unbounded-query", "go"): (
        'package p\n\nfunc F(db *D) {\n\tdb.Query("SELECT a FROM t ORDER BY a LIMIT 10")\n}\n',
        'db.Query("SELECT a FROM t ORDER BY a")',
    ),
    ("missing-rate-limit", "python"): (
        '@app.post("/login")\n@limiter.limit("5/minute")\ndef login():\n    return check()\n',
        '@app.post("/login")\ndef login',
    ),
    ("missing-rate-limit", "typescript"): (
        'router.post("/login", loginLimiter, handle);\n',
        'router.post("/login", handle);',
    ),
    ("missing-rate-limit", "go"): (
        "package p\n\nfunc F(rateLimit L) error {\n\tif !rateLimit.Take() {\n\t\treturn busy\n\t}\n\treturn run()\n}\n",
        "error {\n\treturn run()",
    ),
    ("missing-input-validation", "typescript"): (
        "function f(n: number) {\n  if (n < 0) {\n    throw new RangeError();\n  }\n  return run(n);\n}\n",
        "{\n  return run(n);",
    ),
    ("missing-input-validation", "python"): (
        "def f(n):\n    if not 0 < n < 9:\n        raise ValueError(n)\n    return run(n)\n",
        "(n):\n    return run(n)",
    ),
    ("missing-input-validation", "go"): (
        'package p\n\nfunc F(n int) error {\n\tif n < 0 {\n\t\treturn fmt.Errorf("%d", n)\n\t}\n\treturn run(n)\n}\n',
        "error {\n\treturn run(n)",
    ),
    ("missing-error-handling", "typescript"): (
        "function f() {\n  try {\n    run();\n  } catch (error) {\n    log(error);\n  }\n}\n",
        "function f() {\n  run();\n}",
    ),
    ("missing-error-handling", "python"): (
        "def f():\n    try:\n        run()\n    except (A, B):\n        log()\n",
        "def f():\n    run()\n",
    ),
    ("missing-error-handling", "go"): (
        "package p\n\nfunc F() int {\n\tn, err := run()\n\tif err != nil {\n\t\treturn 0\n\t}\n\treturn n\n}\n",
        "n, _ := run()\n\treturn n",
    ),
}


@pytest.mark.parametrize(("operator", "language"), NEW, ids=lambda part: part if len(part) < 30 else None)
def test_code_that_no_template_has_is_mutated(operator: str, language: str) -> None:
    text, expected = NEW[operator, language]
    found = mutants(operator, text, language)
    assert len(found) == 1 or operator in ("xss", "off-by-one", "unbounded-query")
    if expected is not None:
        assert expected in found[0]


LEFT_ALONE = [
    # In TypeScript a promise that is returned is the same with and without `await`.
    ("missing-await", "typescript", "async function f(q: Q) {\n  return await q.get();\n}\n"),
    ("missing-await", "typescript", "async function f(q: Q) {\n  const x = await q.get();\n  return x.y;\n}\n"),
    ("missing-await", "go", "package p\n\nfunc F() {\n\tawait(1)\n}\n"),
    # One round more of a loop with a step is often an empty round.
    ("off-by-one", "typescript", "for (let i = 0; i < xs.length; i += 50) {\n  send(xs.slice(i, i + 50));\n}\n"),
    ("off-by-one", "python", "def f(self):\n    self.count = self.count + 1\n"),
    ("off-by-one", "go", "package p\n\nfunc F(n int) {\n\tn = n + 1\n\tuse(n)\n}\n"),
    ("off-by-one", "typescript", "// page - 1\nconst text = 'page - 1';\n"),
    # Nobody can put a quote into a number.
    ("sql-injection", "typescript", 'const f = (d: D) => d.all("SELECT * FROM t WHERE a = ?", [7]);\n'),
    (
        "sql-injection",
        "typescript",
        'function f(d: D, n: number) {\n  d.all("SELECT * FROM t WHERE a = ?", [n]);\n}\n',
    ),
    ("sql-injection", "python", 'def f(c, n: int):\n    c.execute("SELECT a FROM t WHERE b = ?", (n,))\n'),
    ("sql-injection", "python", 'def f(log, who):\n    log.info("select a user: %s", who)\n'),
    # Taking $1 away would renumber $2.
    (
        "sql-injection",
        "typescript",
        'function f(d: D, w: string) {\n  d.q("SELECT 1 WHERE a = $1 LIMIT $2", [w, 9]);\n}\n',
    ),
    ("xss", "typescript", "const f = (n: string) => `/find?q=${escapeQuery(n)}`;\n"),
    ("xss", "python", "import html\n\ndef f(n):\n    return html.escape(n)\n"),
    ("hardcoded-secret", "python", 'import os\nREGION = os.environ["REGION"]\n'),
    ("hardcoded-secret", "go", 'package p\n\nimport "os"\n\nvar k = os.Getenv("API_KEY")\n'),
    # A guard against nothing that no use follows.
    (
        "missing-null-check",
        "typescript",
        "function f(u?: U) {\n  if (u === undefined) {\n    return;\n  }\n  go();\n}\n",
    ),
    ("missing-null-check", "go", "package p\n\nfunc F(err error) {\n\tif err != nil {\n\t\treturn\n\t}\n\tgo1()\n}\n"),
    # What Go's compiler refuses.
    ("resource-leak", "go", "package p\n\nfunc F() {\n\tctx, stop := with()\n\tdefer stop()\n\tuse(ctx)\n}\n"),
    ("resource-leak", "go", "package p\n\nfunc F() {\n\tx := dial()\n\tdefer x.Close()\n}\n"),
    (
        "missing-error-handling",
        "go",
        "package p\n\nfunc F() error {\n\tn, err := a()\n\tif err != nil {\n\t\treturn err\n\t}\n\terr = b(n)\n"
        "\treturn err\n}\n",
    ),
    # Only passes on what it caught.
    ("missing-error-handling", "typescript", "try {\n  run();\n} catch (e) {\n  throw e;\n}\n"),
    ("missing-error-handling", "python", "try:\n    run()\nexcept A:\n    raise\n"),
    # A short way, not a refusal.
    ("missing-input-validation", "python", "def f(ids):\n    if not ids:\n        return []\n    return run(ids)\n"),
    (
        "missing-input-validation",
        "typescript",
        "function f(id: string) {\n  const row = load(id);\n  if (id !== row) {\n    throw new E();\n  }\n}\n",
    ),
    ("missing-rate-limit", "python", "def f(q, limit):\n    if q.size > limit:\n        return\n    run()\n"),
    ("n-plus-one-query", "python", "def f(users, ids):\n    people = users.load_many(ids)\n    return people\n"),
    ("unbounded-query", "typescript", "const f = (a: number, b: number) => Math.min(a, b);\n"),
    ("unbounded-query", "python", 'def f(c):\n    c.execute("SELECT a FROM t LIMIT 5 OFFSET 10")\n'),
    ("wrong-comparison", "go", "package p\n\nfunc F(err error) bool {\n\treturn err == nil\n}\n"),
    ("wrong-comparison", "python", "# a < b\ntext = 'a < b'\n"),
]


@pytest.mark.parametrize(("operator", "language", "text"), LEFT_ALONE)
def test_what_only_looks_like_a_place_is_left_alone(operator: str, language: str, text: str) -> None:
    assert mutants(operator, text, language) == []


def test_hostile_identifiers_and_braces_are_data() -> None:
    text = "def f(c, who):\n    c.execute(\"SELECT a FROM t WHERE b = ? AND j = '{0}{who!r}'\", (who,))\n"
    assert mutants("sql-injection", text, "python") == []
    assert mutants("xss", "const f = (n: S) => escape(`{}{0}%s${n.__class__}`);\n", "typescript") == []
    long = "def f(" + "a" * 5000 + "):\n    return (" + "a" * 5000 + " - 1) * 2\n"
    assert len(mutants("off-by-one", long, "python")) == 1
