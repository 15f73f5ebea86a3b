"""Every general rule, on code it must speak of and on code it must leave alone."""

from __future__ import annotations

from importlib.resources import files as package_files

import pytest
import yaml

from bot.reviewers.child import ToolFailed, written
from bot.reviewers.structural import structural

BAD = {
    "ts": [
        ("loose-equality", "if (a == b) {}"),
        ("loose-equality", "return a != 1;"),
        ("inner-html-assignment", "box.innerHTML = text;"),
        ("inner-html-assignment", "box.innerHTML += `<b>${text}</b>`;"),
        ("async-for-each", "rows.forEach(async row => { await save(row); });"),
        ("async-for-each", "rows.forEach(async function (row) { await save(row); });"),
        ("explicit-any", "let value: any = read();"),
        ("unguarded-json-parse", "const config = JSON.parse(text);"),
        ("eval-call", "eval(text);"),
        ("eval-call", "const f = new Function('a', text);"),
        ("async-promise-executor", "new Promise(async (resolve) => { resolve(await f()); });"),
        ("parse-int-as-map-callback", "const numbers = words.map(parseInt);"),
        ("default-sort-order", "numbers.sort();"),
        ("empty-catch", "try { f(); } catch (error) {}"),
        ("assignment-in-condition", "if (a = b) { f(); }"),
        ("nan-comparison", "if (a === NaN) { f(); }"),
    ],
    "go": [
        ("discarded-error", "_ = os.Remove(name)"),
        ("discarded-error", "number, _ := strconv.Atoi(text)"),
        ("unchecked-close", "file.Close()"),
        ("defer-in-loop", "for _, f := range files { defer f.Close() }"),
        ("formatted-sql", 'rows, err := db.Query(fmt.Sprintf("select %s", name))'),
        ("formatted-sql", 'db.ExecContext(ctx, "delete from t where id=" + id)'),
        ("timer-in-loop", "for { select { case <-time.After(d): } }"),
        ("wait-group-add-in-goroutine", "go func() { wg.Add(1) }()"),
        ("unlocked-map-write", "go func() { seen[key] = true }()"),
        ("error-by-equality", "if err == io.EOF { return }"),
        ("lock-copied-by-value", "f := func(lock sync.Mutex) {}"),
        ("insecure-tls", "c := tls.Config{InsecureSkipVerify: true}"),
        ("panic-in-library", 'panic("no")'),
    ],
    "c": [
        ("unbounded-copy", "strcpy(to, from);"),
        ("unbounded-copy", 'sprintf(to, "%s", from);'),
        ("unbounded-copy", "gets(line);"),
        ("unbounded-copy", "strcat(to, from);"),
        ("unbounded-scan", 'scanf("%s", name);'),
        ("unchecked-allocation", "char *p = malloc(4); p[0] = 1;"),
        ("unchecked-allocation", "p = (char *)calloc(4, 1); p[0] = 1;"),
        ("lost-reallocation", "p = realloc(p, 8);"),
        ("assignment-in-condition", "if (a = b) { f(); }"),
        ("loop-one-too-far", "for (int i = 0; i <= count; i++) { a[i] = 0; }"),
        ("loop-one-too-far", "for (i = 0; i <= sizeof(a) / sizeof(a[0]); i++) { a[i] = 0; }"),
        ("loop-one-too-far", "for (i = 0; i <= MAX_LEN; ++i) { a[i] = 0; }"),
        ("size-of-pointer", "char *p = q; memset(p, 0, sizeof(p));"),
        ("format-from-data", "printf(text);"),
        ("use-after-free", "free(node); next = node->next;"),
        ("shell-command", "system(command);"),
        ("switch-falls-through", "switch (a) { case 1: f(); case 2: g(); break; }"),
    ],
}
GOOD = {
    "ts": """
        if (a === b || c == null) {}
        box.innerHTML = '';
        box.textContent = text;
        for (const row of rows) { await save(row); }
        rows.forEach(row => save(row));
        let value: unknown = read();
        try { config = JSON.parse(text); } catch (error) { report(error); }
        const copy = structuredClone(JSON.parse(JSON.stringify(a)));
        new Promise((resolve) => resolve(1));
        words.map(word => parseInt(word, 10));
        numbers.sort((a, b) => a - b);
        if ((a = b) !== null) {}
        if (Number.isNaN(a)) {}
    """,
    "go": """
        number, err := strconv.Atoi(text)
        value, _ := table[key]
        if err := file.Close(); err != nil { return err }
        defer file.Close()
        for _, f := range files { func() { defer f.Close() }() }
        rows, err := db.Query("select a from t where id = ?", id)
        timer := time.After(d)
        wg.Add(1)
        go func() { mu.Lock(); seen[key] = true; mu.Unlock() }()
        seen[key] = true
        if errors.Is(err, io.EOF) || err == nil || err != nil { return }
        f := func(lock *sync.Mutex) {}
        c := tls.Config{InsecureSkipVerify: false}
    """,
    "c": """
        snprintf(to, sizeof(to), "%s", from);
        scanf("%9s", name);
        char *p = malloc(4);
        if (!p) return;
        char *q = malloc(4);
        assert(q);
        bigger = realloc(p, 8);
        if (!bigger) return;
        if ((a = read()) != 0) { f(); }
        for (int i = 0; i < count; i++) { a[i] = 0; }
        for (int i = 0; i <= count - 1; i++) { a[i] = 0; }
        for (int i = 1; i <= count; i++) { f(i); }
        for (int i = 0; i <= 9; i++) { f(i); }
        printf("%s", text);
        fprintf(stderr, "done");
        free(p);
        p = NULL;
        system("ls");
        switch (a) { case 1: f(); break; case 2: case 3: g(); break; }
    """,
}
FRAME = {
    "ts": "async function scope() {{\n{}\n}}\n",
    "go": "package p\n\nfunc scope() {{\n{}\n}}\n",
    "c": "void scope(void) {{\n{}\n}}\n",
}
FAMILY = {"ts": "typescript", "go": "go", "c": "c"}
CASES = [(suffix, rule, text) for suffix, cases in BAD.items() for rule, text in cases]


@pytest.mark.parametrize("suffix", ["ts", "go", "c"])
def test_every_rule_speaks_of_its_mistake_at_its_line(suffix: str) -> None:
    files = {f"case{n:02}.{suffix}": FRAME[suffix].format(text).encode() for n, (_, text) in enumerate(BAD[suffix])}
    with written(files) as tree:
        found = {(finding.path, finding.line, finding.rule) for finding in structural(tree, files)}
    line = 2 if suffix != "go" else 4
    wanted = {(f"case{n:02}.{suffix}", line, f"{FAMILY[suffix]}-{rule}") for n, (rule, _) in enumerate(BAD[suffix])}
    assert wanted - found == set()


@pytest.mark.parametrize("suffix", ["ts", "go", "c"])
def test_sound_code_is_left_alone(suffix: str) -> None:
    files = {f"good.{suffix}": FRAME[suffix].format(GOOD[suffix]).encode()}
    with written(files) as tree:
        assert [(finding.line, finding.rule) for finding in structural(tree, files)] == []


def test_no_rule_is_without_a_case_and_without_a_reason() -> None:
    tried = {(FAMILY[suffix], rule) for suffix, rule, _ in CASES}
    for family in FAMILY.values():
        text = (package_files("bot.reviewers") / "rules" / f"{family}.yml").read_text(encoding="utf-8")
        for rule in yaml.safe_load_all(text):
            assert (family, rule["id"]) in tried
            assert rule["message"]
            assert rule["note"]


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("-x y.tsx", "const a = <b onClick={() => eval(t)}/>;", "typescript-eval-call"),
        ("a.jsx", "if (a = b) {}", "typescript-assignment-in-condition"),
        ("a.mjs", "eval(t);", "typescript-eval-call"),
        ("a.cpp", "void f() { if (a = b) { g(); } }", "c-assignment-in-condition"),
        ("dir with space/a.h", "static void f(char *s) { strcpy(b, s); }", "c-unbounded-copy"),
        ("node_modules/.hidden/a.go", "package p\nfunc f() { panic(1) }", "go-panic-in-library"),
    ],
)
def test_sister_languages_and_odd_names_are_read_too(name: str, text: str, rule: str) -> None:
    with written({name: text.encode()}) as tree:
        assert [(finding.path, finding.rule) for finding in structural(tree, [name])] == [(name, rule)]


def test_configuration_of_the_fork_changes_nothing() -> None:
    files = {"a.ts": b"eval(t);\n", "sgconfig.yml": b"ruleDirs: [none]\n", ".gitignore": b"*\n", ".ignore": b"*\n"}
    with written(files) as tree:
        assert [finding.rule for finding in structural(tree, files)] == ["typescript-eval-call"]


def test_a_missing_engine_is_a_failure_not_a_clean_file(monkeypatch: pytest.MonkeyPatch) -> None:
    with written({"a.ts": b"eval(t);\n"}) as tree:
        monkeypatch.setattr("sysconfig.get_path", lambda name: str(tree))
        with pytest.raises(ToolFailed, match="install assay"):
            structural(tree, ["a.ts"])
