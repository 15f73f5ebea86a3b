"""Settings: every slip of an operator is one clear line, and no secret is ever in it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from bot.model import Publish, RepoName
from bot.settings import NOT_SETTINGS, SETTING_NAMES, Settings, SettingsError, load_settings

_ROOT = Path(__file__).resolve().parents[2]

_NAMES = (
    "ASSAY_GITHUB_API_URL",
    "ASSAY_APP_ID",
    "ASSAY_CLIENT_ID",
    "ASSAY_PRIVATE_KEY",
    "ASSAY_PRIVATE_KEY_FILE",
    "ASSAY_WEBHOOK_SECRET",
    "ASSAY_AUTHOR_TOKEN",
    "ASSAY_CONTROL_REPO",
    "ASSAY_DATA_DIR",
    "ASSAY_DATABASE_URL",
    "ASSAY_ENGINE_URL",
    "ASSAY_JUDGE",
    "ASSAY_PUBLISH",
    "ASSAY_CLEANUP",
    "ASSAY_CLEANUP_DAYS",
    "ASSAY_BIND",
    "ASSAY_UPSTREAM_URL",
    "ASSAY_MIRROR_URL",
    "ASSAY_WORKFLOWS_GRANTED",
    "ASSAY_PRIVATE_UNTIL_PUSHED",
    "ASSAY_REGISTRY",
    "ASSAY_WRITE_SPACING_SECONDS",
    "ASSAY_WRITES_PER_MINUTE",
    "ASSAY_WRITES_PER_HOUR",
    "ASSAY_REPOSITORIES_PER_HOUR",
    "ASSAY_REVIEWER_QUOTAS",
    "ASSAY_POLL_SECONDS",
    "ASSAY_ISSUE_POLL_SECONDS",
    "ASSAY_QUEUE_POLL_SECONDS",
    "ASSAY_PROGRESS_SECONDS",
    "ASSAY_NUDGE_SECONDS",
    "ASSAY_RECHECK_SECONDS",
    "ASSAY_PUBLIC_URL",
    "ASSAY_CLIENT_SECRET",
    "ASSAY_LOCAL_USER",
    "ASSAY_TRUSTED_PROXIES",
    "ASSAY_LOG",
    "ASSAY_LLM_API_BASE",
    "ASSAY_LLM_CONCURRENCY",
    "ASSAY_LLM_MAX_COST",
    "ASSAY_REVIEW_MODELS",
)

_SECRETS = ("ASSAY_PRIVATE_KEY", "ASSAY_WEBHOOK_SECRET", "ASSAY_AUTHOR_TOKEN", "ASSAY_DATABASE_URL", "ASSAY_ENGINE_URL")


@pytest.fixture(scope="module")
def key() -> str:
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return made.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


def problems(env: Mapping[str, str], dotenv: Path | None = None) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load_settings(env, dotenv)
    assert str(caught.value) == "\n".join(caught.value.problems)
    assert all("\n" not in line for line in caught.value.problems)
    return caught.value.problems


# --- names and defaults -----------------------------------------------------------------------------------------


def test_the_names_are_the_ones_operators_rely_on() -> None:
    assert sorted(SETTING_NAMES) == sorted(_NAMES)


def test_nothing_set_is_enough_and_private() -> None:
    settings = load_settings({})
    assert settings.publish is Publish.PRIVATE
    assert (settings.bind_host, settings.bind_port) == ("127.0.0.1", 8000)
    assert (settings.write_spacing_seconds, settings.writes_per_minute, settings.writes_per_hour) == (1.0, 80, 500)
    assert (settings.issue_poll_seconds, settings.queue_poll_seconds, settings.progress_seconds) == (60, 0.5, 15)
    assert settings.poll_seconds is None
    assert settings.webhook_secrets == ()


def test_every_setting_set_to_something_else_arrives(key: str, tmp_path: Path) -> None:
    env = {
        "ASSAY_GITHUB_API_URL": "http://127.0.0.1:9/api/v3/",
        "ASSAY_APP_ID": "4242",
        "ASSAY_CLIENT_ID": "Iv23x",
        "ASSAY_PRIVATE_KEY": key,
        "ASSAY_WEBHOOK_SECRET": "s1",
        "ASSAY_AUTHOR_TOKEN": " token\n",
        "ASSAY_CONTROL_REPO": "acme/control",
        "ASSAY_DATA_DIR": str(tmp_path),
        "ASSAY_DATABASE_URL": "postgresql://u:p@h/db",
        "ASSAY_ENGINE_URL": "postgresql://u:p@h/db",
        "ASSAY_JUDGE": "litellm:openai/gpt-4o",
        "ASSAY_PUBLISH": "named",
        "ASSAY_CLEANUP": "keep",
        "ASSAY_CLEANUP_DAYS": "7",
        "ASSAY_BIND": "[::1]:0",
        "ASSAY_UPSTREAM_URL": f"file://{tmp_path}",
        "ASSAY_MIRROR_URL": f"file://{tmp_path}/mirror",
        "ASSAY_WORKFLOWS_GRANTED": "true",
        "ASSAY_PRIVATE_UNTIL_PUSHED": "true",
        "ASSAY_REGISTRY": "~/own.yaml",
        "ASSAY_WRITE_SPACING_SECONDS": "0",
        "ASSAY_WRITES_PER_MINUTE": "10",
        "ASSAY_WRITES_PER_HOUR": "20",
        "ASSAY_REPOSITORIES_PER_HOUR": "7",
        "ASSAY_REVIEWER_QUOTAS": "keep",
        "ASSAY_POLL_SECONDS": "2",
        "ASSAY_ISSUE_POLL_SECONDS": "3",
        "ASSAY_QUEUE_POLL_SECONDS": "0.1",
        "ASSAY_PROGRESS_SECONDS": "4",
        "ASSAY_NUDGE_SECONDS": "1",
        "ASSAY_RECHECK_SECONDS": "0.2, 0.5",
        "ASSAY_PUBLIC_URL": "https://assay.example.com",
        "ASSAY_CLIENT_SECRET": "s2",
        "ASSAY_LOCAL_USER": "mira-lund",
        "ASSAY_TRUSTED_PROXIES": "1",
        "ASSAY_LOG": "json",
        "ASSAY_LLM_API_BASE": "http://127.0.0.1:9/v1",
        "ASSAY_LLM_CONCURRENCY": "2",
        "ASSAY_LLM_MAX_COST": "2.5",
        "ASSAY_REVIEW_MODELS": "openai/gpt-4o-mini, ollama/qwen2.5-coder:7b",
    }
    settings, plain = load_settings(env), load_settings({})
    unchanged = [name for name in Settings.model_fields if getattr(settings, name) == getattr(plain, name)]
    assert unchanged == ["private_key_file"]
    assert settings.github_api_url == "http://127.0.0.1:9/api/v3"
    assert settings.control_repo == RepoName("acme", "control")
    assert (settings.bind_host, settings.bind_port) == ("::1", 0)
    assert settings.recheck_seconds == (0.2, 0.5)
    assert settings.author_token is not None
    assert settings.author_token.get_secret_value() == "token"
    assert settings.registry == Path.home() / "own.yaml"


def test_the_example_file_documents_every_setting_and_changes_nothing() -> None:
    example = _ROOT / ".env.example"
    lines = example.read_text(encoding="utf-8").splitlines()
    assert sorted(line.partition("=")[0] for line in lines if line and not line.startswith("#")) == sorted(_NAMES)
    assert load_settings({}, example) == load_settings({})


def test_the_processs_environment_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_BIND", "0.0.0.0:1")
    assert Settings().bind == load_settings({}).bind == "127.0.0.1:8000"
    assert load_settings(os.environ).bind == "0.0.0.0:1"


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings({}).bind = "x"


# --- slips ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("ASSAY_WRITE_PER_HOUR", "ASSAY_WRITES_PER_HOUR"),
        ("ASSAY_WEBHOOK_SECRETS", "ASSAY_WEBHOOK_SECRET"),
        ("assay_bind", "ASSAY_BIND"),
        ("ASSAY_PRIVATE_KEYFILE", "ASSAY_PRIVATE_KEY_FILE"),
    ],
)
def test_a_mistyped_name_is_an_error_with_a_guess(name: str, guess: str) -> None:
    (line,) = problems({name: "secret-value"})
    assert line == f"{name}: is no setting; did you mean {guess}?"


def test_a_name_like_no_other_lists_the_settings() -> None:
    (line,) = problems({"ASSAY_XYZZY": ""})
    assert all(name in line for name in _NAMES)


def test_names_of_others_and_of_the_test_suite_are_not_ours_to_judge() -> None:
    assert load_settings({"PATH": "/bin", "MY_ASSAY_X": "1", **dict.fromkeys(NOT_SETTINGS, "x")}) == load_settings({})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ASSAY_APP_ID", "abc"),
        ("ASSAY_APP_ID", "0"),
        ("ASSAY_APP_ID", "1.5"),
        ("ASSAY_CLIENT_ID", "a b"),
        ("ASSAY_BIND", "8000"),
        ("ASSAY_BIND", "127.0.0.1"),
        ("ASSAY_BIND", "127.0.0.1:65536"),
        ("ASSAY_BIND", "::1:8000"),
        ("ASSAY_BIND", "http://127.0.0.1:8000"),
        ("ASSAY_BIND", "host:٨"),
        ("ASSAY_GITHUB_API_URL", "api.github.com"),
        ("ASSAY_GITHUB_API_URL", "ftp://api.github.com"),
        ("ASSAY_GITHUB_API_URL", "file:///etc"),
        ("ASSAY_GITHUB_API_URL", "https://"),
        ("ASSAY_GITHUB_API_URL", "https://x:99999"),
        ("ASSAY_GITHUB_API_URL", "https://[::1"),
        ("ASSAY_GITHUB_API_URL", "https://x/?a=1"),
        ("ASSAY_GITHUB_API_URL", "https://x y"),
        ("ASSAY_PUBLIC_URL", "javascript:alert(1)"),
        ("ASSAY_UPSTREAM_URL", "ssh://github.com"),
        ("ASSAY_UPSTREAM_URL", "/srv/mirror"),
        ("ASSAY_UPSTREAM_URL", "ext::sh -c id"),
        ("ASSAY_CONTROL_REPO", "acme"),
        ("ASSAY_CONTROL_REPO", "acme/a/b"),
        ("ASSAY_CONTROL_REPO", "https://github.com/acme/control"),
        ("ASSAY_PUBLISH", "public"),
        ("ASSAY_JUDGE", "litellm:"),
        ("ASSAY_LLM_API_BASE", "127.0.0.1:9"),
        ("ASSAY_LLM_CONCURRENCY", "0"),
        ("ASSAY_LLM_MAX_COST", "0"),
        ("ASSAY_LLM_MAX_COST", "inf"),
        ("ASSAY_REVIEW_MODELS", "gpt-4o"),
        ("ASSAY_WRITE_SPACING_SECONDS", "-1"),
        ("ASSAY_WRITE_SPACING_SECONDS", "nan"),
        ("ASSAY_WRITES_PER_MINUTE", "0"),
        ("ASSAY_WRITES_PER_HOUR", "1e9"),
        ("ASSAY_POLL_SECONDS", "0"),
        ("ASSAY_ISSUE_POLL_SECONDS", "inf"),
        ("ASSAY_QUEUE_POLL_SECONDS", "soon"),
        ("ASSAY_PROGRESS_SECONDS", "15s"),
        ("ASSAY_RECHECK_SECONDS", "10;60"),
        ("ASSAY_DATABASE_URL", "mysql://h/db"),
        ("ASSAY_ENGINE_URL", "h:5432"),
        ("ASSAY_PRIVATE_KEY", "not a key"),
    ],
)
def test_a_bad_value_is_one_line_with_the_name_and_an_example(name: str, value: str) -> None:
    (line,) = problems({name: value})
    assert line.startswith(f"{name}: ")
    assert f"for example {name}=" in line
    assert (value in line) is (name not in _SECRETS)


def test_every_example_in_a_message_is_itself_valid(key: str) -> None:
    for name, info in Settings.model_fields.items():
        for example in info.examples or []:
            value = key if name == "private_key" else example
            assert getattr(load_settings({f"ASSAY_{name.upper()}": value}), name) is not None


def test_all_problems_are_said_at_once() -> None:
    found = problems({"ASSAY_BIND": "x", "ASSAY_BNID": "y", "ASSAY_PUBLISH": "z", "ASSAY_POLL_SECONDS": "-1"})
    assert {line.partition(":")[0] for line in found} == {
        "ASSAY_BIND",
        "ASSAY_BNID",
        "ASSAY_PUBLISH",
        "ASSAY_POLL_SECONDS",
    }


def test_no_secret_is_in_a_message_a_traceback_or_a_printed_value(key: str) -> None:
    hidden = "hunter2hunter2"
    bad = {
        "ASSAY_PRIVATE_KEY": hidden,
        "ASSAY_DATABASE_URL": f"mysql://u:{hidden}@h/db",
        "ASSAY_GITHUB_API_URL": f"https://u:{hidden}@h/",
        "ASSAY_AUTHOR_TOKN": hidden,
        "ASSAY_BIND": "x",
    }
    try:
        load_settings(bad)
    except SettingsError as error:
        assert len(error.problems) == 5
        assert hidden not in "".join(traceback.format_exception(error))
    good = {"ASSAY_PRIVATE_KEY": key, "ASSAY_WEBHOOK_SECRET": hidden, "ASSAY_AUTHOR_TOKEN": hidden}
    settings = load_settings({**good, "ASSAY_DATABASE_URL": f"postgresql://u:{hidden}@h/db"})
    shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    assert hidden not in shown
    assert "BEGIN" not in shown


# --- key, secrets, what fits together ---------------------------------------------------------------------------


def test_the_key_may_be_one_line_or_have_windows_line_ends(key: str) -> None:
    for text in (key, key.replace("\n", "\\n"), key.replace("\n", "\r\n"), f"\n {key}\n\n"):
        read = load_settings({"ASSAY_PRIVATE_KEY": text}).read_private_key()
        assert read == key
        assert isinstance(load_pem_private_key(read.encode(), None), rsa.RSAPrivateKey)


def test_the_key_is_read_from_its_file(key: str, tmp_path: Path) -> None:
    path = tmp_path / "app.pem"
    path.write_text(key, encoding="ascii")
    assert load_settings({"ASSAY_PRIVATE_KEY_FILE": str(path)}).read_private_key() == key


def test_a_key_file_that_is_none_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_bytes(b"")
    (tmp_path / "binary.pem").write_bytes(b"\xff\xfe")
    (tmp_path / "public.pem").write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    for name in ("empty.pem", "binary.pem", "public.pem", "missing.pem", "."):
        settings = load_settings({"ASSAY_PRIVATE_KEY_FILE": str(tmp_path / name)})
        with pytest.raises(SettingsError, match="ASSAY_PRIVATE_KEY_FILE: ") as caught:
            settings.read_private_key()
        assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(SettingsError, match="ASSAY_PRIVATE_KEY: is not set"):
        load_settings({}).read_private_key()


@pytest.mark.parametrize("kind", ["ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "CERTIFICATE"])
def test_other_pem_blocks_are_no_app_key(kind: str) -> None:
    problems({"ASSAY_PRIVATE_KEY": f"-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----"})


def test_a_key_and_a_key_file_together_are_refused_beside_other_problems(key: str) -> None:
    found = problems({"ASSAY_PRIVATE_KEY": key, "ASSAY_PRIVATE_KEY_FILE": "/x", "ASSAY_BIND": "x"})
    assert [line.partition(":")[0] for line in found] == ["ASSAY_PRIVATE_KEY", "ASSAY_BIND"]


def test_two_secrets_may_be_in_use_while_one_is_changed() -> None:
    spaced = load_settings({"ASSAY_WEBHOOK_SECRET": "It's a Secret, to Everybody"})
    assert spaced.webhook_secrets == (b"It's a Secret, to Everybody",)
    assert load_settings({"ASSAY_WEBHOOK_SECRET": "new\r\nöld\n"}).webhook_secrets == (b"new", "öld".encode())


def test_the_engine_never_shares_a_sqlite_file_with_our_tables(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/app.db"
    (line,) = problems({"ASSAY_DATABASE_URL": url, "ASSAY_ENGINE_URL": url})
    assert line.startswith("ASSAY_ENGINE_URL: ")
    apart = load_settings({"ASSAY_DATABASE_URL": url, "ASSAY_ENGINE_URL": f"sqlite:///{tmp_path}/engine.db"})
    assert apart.database_url != apart.engine_url


def test_what_a_command_needs_is_asked_for_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({"ASSAY_APP_ID": "1"}).require("app_id", "webhook_secret", "control_repo")
    assert [line.partition(":")[0] for line in caught.value.problems] == ["ASSAY_WEBHOOK_SECRET", "ASSAY_CONTROL_REPO"]
    load_settings({"ASSAY_APP_ID": "1"}).require("app_id")


# --- the .env file ----------------------------------------------------------------------------------------------


def dotenv(tmp_path: Path, text: str) -> Path:
    path = tmp_path / ".env"
    path.write_bytes(text.encode())
    return path


def test_the_file_is_read_and_the_environment_wins(tmp_path: Path) -> None:
    text = "\ufeff# a comment\r\n\r\nexport ASSAY_BIND='0.0.0.0:1'  # why\r\n"
    text += 'ASSAY_JUDGE="litellm:a/b"\r\nOTHER=${HOME}\r\n'
    path = dotenv(tmp_path, text)
    assert load_settings({}, path).bind == "0.0.0.0:1"
    assert load_settings({"ASSAY_BIND": "0.0.0.0:2"}, path).bind == "0.0.0.0:2"
    assert load_settings({}, path).judge == "litellm:a/b"


def test_a_value_of_the_file_is_taken_as_it_stands(tmp_path: Path) -> None:
    path = dotenv(tmp_path, "ASSAY_WEBHOOK_SECRET=a$HOME${PATH}#b\n")
    assert load_settings({}, path).webhook_secrets == (b"a$HOME${PATH}#b",)


def test_a_key_in_the_file_may_span_lines(key: str, tmp_path: Path) -> None:
    assert load_settings({}, dotenv(tmp_path, f'ASSAY_PRIVATE_KEY="{key}"\n')).read_private_key() == key
    one_line = key.replace("\n", "\\n")
    assert load_settings({}, dotenv(tmp_path, f'ASSAY_PRIVATE_KEY="{one_line}"\n')).read_private_key() == key
    assert load_settings({}, dotenv(tmp_path, f"ASSAY_PRIVATE_KEY={one_line}\n")).read_private_key() == key


def test_a_missing_file_is_as_good_as_none(tmp_path: Path) -> None:
    assert load_settings({}, tmp_path / "nowhere" / ".env") == load_settings({})


def test_slips_in_the_file_name_the_line(tmp_path: Path) -> None:
    path = dotenv(
        tmp_path, "\n\nASSAY_BIND=127.0.0.1:1\n\n\nthis is no assignment\nASSAY_JUDGE\n\nASSAY_BIND=127.0.0.1:2\n"
    )
    found = problems({}, path)
    assert [line.partition(": ")[0] for line in found] == [f"{path}:6", f"{path}:7", f"{path}:9"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (line,) = problems({}, tmp_path)
    assert line.startswith(f"{tmp_path}: cannot be read")
    broken = tmp_path / "broken.env"
    broken.write_bytes(b"ASSAY_BIND=\xff\xff")
    (line,) = problems({}, broken)
    assert line == f"{broken}: cannot be read: it is not text"
