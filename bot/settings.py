"""What an operator sets: `ASSAY_*` variables, or the same names in a `.env` file, checked once at the start.

Only `load_settings` makes `Settings` from the outside world, and it says everything that is wrong at once. A name
that is no setting is an error, because a mistyped limit would otherwise be no limit. Values of secrets are never shown.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from dotenv.parser import parse_stream
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.commands import JUDGE_NAME
from bot.model import Publish, RepoName
from bot.settings_reviews import ModelNames
from bot.settings_web import Secret, WebSettings

PREFIX = "ASSAY_"

LOOPBACK = ("127.0.0.1:", "[::1]:", "localhost:")
"""What an address to listen on begins with that nobody reaches from outside."""

NOT_SETTINGS = frozenset({"ASSAY_SHARED"})
"""Names with our prefix that the test suite reads; the App does not."""

_PEM = re.compile(
    r"-----BEGIN (RSA )?PRIVATE KEY-----\n[A-Za-z0-9+/=\s]{1,20000}-----END (RSA )?PRIVATE KEY-----", re.ASCII
)
_BIND = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253})):([0-9]{1,5})", re.ASCII)


class SettingsError(Exception):
    """Settings that cannot be used: one line for each problem, with the setting's name and an example."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


# --- kinds of values --------------------------------------------------------------------------------------------


def _wrong(message: str) -> PydanticCustomError:
    return PydanticCustomError("setting", "{message}", {"message": message})


def _url(*schemes: str) -> AfterValidator:
    """An address with one of the schemes, without credentials, and without a slash at its end."""
    allowed = " or ".join(f"{scheme}://" for scheme in schemes)

    def check(text: str) -> str:
        try:
            parts = urlsplit(text)
            has_place = bool(parts.path) if parts.scheme == "file" else bool(parts.hostname)
            invalid = parts.scheme not in schemes or not has_place or (parts.port or 0) > 65535
        except ValueError:
            raise _wrong("is not an address") from None
        if parts.username is not None or parts.password is not None:
            raise PydanticCustomError(
                "secret", "holds a user name or password, which would end up in logs; leave it out"
            )
        if invalid or any(character.isspace() for character in text) or parts.query or parts.fragment:
            raise _wrong(f"is not an address that begins with {allowed} and has no query")
        return text.rstrip("/")

    return AfterValidator(check)


def _database_url(value: SecretStr) -> SecretStr:
    text = value.get_secret_value()
    if not text.startswith(("postgresql://", "postgresql+psycopg://", "sqlite:///")):
        raise _wrong("does not begin with postgresql://, postgresql+psycopg:// or sqlite:///")
    return value


def _repo(value: object) -> object:
    if not isinstance(value, str):
        return value
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}/[A-Za-z0-9._-]{1,100}", value, re.ASCII):
        raise _wrong("is not a repository; write owner/name")
    return RepoName.parse(value)


def _pauses(value: object) -> object:
    """Seconds separated by commas."""
    if not isinstance(value, str):
        return value
    try:
        pauses = tuple(float(part) for part in value.split(","))
    except ValueError:
        raise _wrong("must be seconds separated by commas") from None
    if not all(0 <= pause <= 600 for pause in pauses):
        raise _wrong("must be seconds from 0 to 600, separated by commas")
    return pauses


def _bind(text: str) -> str:
    match = _BIND.fullmatch(text)
    if match is None or int(match[3]) > 65535:
        raise _wrong("is not host:port with a port up to 65535 (0 takes any free one)")
    return text


def _judge(text: str) -> str:
    if not JUDGE_NAME.fullmatch(text):
        raise _wrong("is not a judge's name; write lexical or litellm:provider/model")
    return text


def _pem(value: SecretStr) -> SecretStr:
    r"""A key in one line with `\n` for its line ends, as many secret stores keep it, is read as well."""
    text = value.get_secret_value().replace("\\n", "\n").replace("\r\n", "\n").strip()
    if not _PEM.fullmatch(text):
        raise _wrong("is not a PEM private key; it has to begin with -----BEGIN RSA PRIVATE KEY-----")
    return SecretStr(f"{text}\n")


def _home(path: Path) -> Path:
    return path.expanduser()


HttpUrl = Annotated[str, _url("https", "http")]
SourceUrl = Annotated[str, _url("https", "http", "file")]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_database_url)]
LocalPath = Annotated[Path, AfterValidator(_home)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


# --- the settings -----------------------------------------------------------------------------------------------


class Settings(WebSettings):
    """All settings. A field's name in upper case behind `ASSAY_` is the setting's name."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )

    github_api_url: HttpUrl = Field(default="https://api.github.com", examples=["https://github.example.com/api/v3"])
    """GitHub's REST API; another one for GitHub Enterprise."""
    app_id: int | None = Field(default=None, gt=0, lt=2**63, examples=["123456"])
    """The App's number."""
    client_id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]{1,100}$", examples=["Iv23abcdefghijklmnop"])
    """The App's client id; signs tokens in place of the number where it is set."""
    private_key: Annotated[SecretStr, AfterValidator(_pem)] | None = Field(
        default=None, examples=["-----BEGIN RSA PRIVATE KEY-----\\n...\\n-----END RSA PRIVATE KEY-----"]
    )
    r"""The App's private key as PEM text; `\n` may stand for line ends. This or the file, not both."""
    private_key_file: LocalPath | None = Field(default=None, examples=["/run/secrets/app.pem"])
    """A file with the App's private key."""
    webhook_secret: Secret | None = Field(default=None, examples=["a-long-random-text"])
    """What GitHub signs deliveries with. While it is being changed: both, each on a line of its own."""
    author_token: Secret | None = Field(default=None, examples=["github_pat_..."])
    """A user's token, which opens pull requests and asks reviewers; without it the App does, and some are silent."""
    control_repo: Annotated[RepoName, BeforeValidator(_repo)] | None = Field(default=None, examples=["acme/benchmarks"])
    """Where people ask for runs: owner/name."""
    data_dir: LocalPath = Field(default=Path("assay-data"), examples=["/var/lib/assay"])
    """Where SQLite files and bundles are kept."""
    database_url: DatabaseUrl | None = Field(default=None, examples=["postgresql://assay@db.example.com/assay"])
    """Our tables, if not in a SQLite file in the data directory."""
    engine_url: DatabaseUrl | None = Field(default=None, examples=["postgresql://assay@db.example.com/engine"])
    """The workflow engine's tables, if not in a SQLite file in the data directory. Never in our SQLite file."""
    judge: Annotated[str, AfterValidator(_judge)] = Field(default="lexical", examples=["litellm:openai/gpt-4o"])
    """Who judges when a request names nobody."""
    publish: Publish = Field(default=Publish.PRIVATE, examples=["anonymous"])
    """How much of a result may be shown where a request does not say: private, anonymous or named."""
    cleanup: Literal["archive", "keep"] = Field(default="archive", examples=["keep"])
    """What becomes of a run's forks by themselves, some time after it ended: they are archived, or kept as they are."""
    cleanup_days: float = Field(default=30.0, ge=0, le=3650, allow_inf_nan=False, examples=["30"])
    """How many days after a run's end its forks are archived."""
    bind: Annotated[str, AfterValidator(_bind)] = Field(
        default="127.0.0.1:8000", examples=["127.0.0.1:8000", "[::1]:8000"]
    )
    """Where the web server listens: host:port."""
    upstream_url: SourceUrl = Field(default="https://github.com", examples=["file:///srv/mirror"])
    """Where the commits of golden pull requests are fetched from: GitHub, a mirror, or a directory (file://)."""
    mirror_url: SourceUrl | None = Field(default=None, examples=["file:///srv/mirror"])
    """Where commits are fetched that the upstream does not give any more: holds owner/name.git as the upstream does."""
    workflows_granted: bool = Field(default=False, examples=["true"])
    """Whether the App was granted `workflows: write`: reviewers that are Actions then get their one workflow file."""
    private_until_pushed: bool = Field(default=False, examples=["true"])
    """Whether public forks are private until both branches are pushed, so that push protection does not refuse them."""
    registry: LocalPath | None = Field(default=None, examples=["/etc/assay/reviewers.yaml"])
    """A YAML file with reviewers of your own, beside those shipped."""
    write_spacing_seconds: float = Field(default=1.0, ge=0, le=3600, allow_inf_nan=False, examples=["1.0"])
    """Least time between two writes of one account; 0 only where GitHub is a stand-in."""
    writes_per_minute: int = Field(default=80, ge=1, le=100_000, examples=["80"])
    """Most content writes of one account in a minute."""
    writes_per_hour: int = Field(default=500, ge=1, le=1_000_000, examples=["500"])
    """Most content writes of one account in an hour."""
    repositories_per_hour: int = Field(default=100, ge=1, le=1_000_000, examples=["100"])
    """Most repositories made in an hour: GitHub has a limit of its own for these and does not tell it."""
    reviewer_quotas: Literal["auto", "keep", "ignore"] = Field(default="auto", examples=["keep"])
    """Whether reviewers are asked no faster than the registry says they answer; auto: unless GitHub is on loopback."""
    poll_seconds: Seconds | None = Field(default=None, examples=["30"])
    """How often a waiting fork is read; empty: from how many wait and what GitHub allows."""
    issue_poll_seconds: Seconds = Field(default=60.0, examples=["60"])
    """How often the control repository is read for issues and commands whose webhook was lost."""
    queue_poll_seconds: Seconds = Field(default=0.5, examples=["0.5"])
    """How often a worker looks for deliveries; for work that nobody waits for it looks two or three times rarer."""
    progress_seconds: Seconds = Field(default=15.0, examples=["15"])
    """Least time between two edits of a progress comment."""
    nudge_seconds: Seconds = Field(default=5.0, examples=["5"])
    """From a bot's webhook to the look it causes, so that a burst of comments is one look."""
    recheck_seconds: Annotated[tuple[float, ...], BeforeValidator(_pauses)] = Field(
        default=(10.0, 60.0), examples=["10,60"]
    )
    """Pauses before looking again for a write whose outcome is unknown, separated by commas."""
    log: Literal["text", "json"] = Field(default="text", examples=["json"])
    """How log lines are written: for people, or one JSON object a line."""
    public_url: HttpUrl | None = Field(default=None, examples=["https://assay.example.com"])
    """Where GitHub and people reach the web server from outside."""
    llm_api_base: HttpUrl | None = Field(default=None, examples=["http://127.0.0.1:11434/v1"])
    """Where a judge's model is asked, if not at its provider's own address: a gateway, or a model of yours."""
    llm_concurrency: int = Field(default=4, ge=1, le=64, examples=["4"])
    """How many calls to a judge's model are under way at a time."""
    llm_max_cost: float | None = Field(default=None, gt=0, le=10_000, allow_inf_nan=False, examples=["5.00"])
    """Most US dollars that judging one run may cost; a request may ask for less, not for more. Empty: no limit."""
    review_models: ModelNames = Field(default=(), examples=["openai/gpt-4o-mini,anthropic/claude-haiku-4-5"])
    """Models that a request's built-in reviewers may ask: provider/model, with commas. Empty: none."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is handed in counts: a `Settings` in a test never sees the process's environment."""
        return (init_settings,)

    @property
    def bind_host(self) -> str:
        """The host to listen on, without the brackets of an IPv6 address."""
        return self.bind.rpartition(":")[0].strip("[]")

    @property
    def bind_port(self) -> int:
        """The port to listen on; 0 is any free one."""
        return int(self.bind.rpartition(":")[2])

    @property
    def webhook_secrets(self) -> tuple[bytes, ...]:
        """Every secret that a delivery may be signed with; empty where none is set."""
        text = "" if self.webhook_secret is None else self.webhook_secret.get_secret_value()
        return tuple(line.strip().encode() for line in text.splitlines() if line.strip())

    def read_private_key(self) -> str:
        """The App's private key as PEM text.

        Raises:
            SettingsError: no key is set, or the file cannot be read or holds none.
        """
        if self.private_key is not None:
            return self.private_key.get_secret_value()
        if self.private_key_file is None:
            raise SettingsError((f"{PREFIX}PRIVATE_KEY: is not set; {_example('private_key_file')}",))
        name = setting_name("private_key_file")
        try:
            return _pem(SecretStr(self.private_key_file.read_text(encoding="ascii"))).get_secret_value()
        except (OSError, UnicodeDecodeError) as problem:
            raise SettingsError((f"{name}: {self.private_key_file} cannot be read: {_reason(problem)}",)) from None
        except PydanticCustomError as problem:
            raise SettingsError((f"{name}: {self.private_key_file} {problem.message()}",)) from None

    def require(
        self, *names: Literal["app_id", "webhook_secret", "author_token", "control_repo", "public_url"]
    ) -> None:
        """Make sure that these are set.

        Raises:
            SettingsError: some are not; one line for each.
        """
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            raise SettingsError(tuple(f"{setting_name(name)}: is not set; {_example(name)}" for name in missing))


SETTING_NAMES: tuple[str, ...] = tuple(f"{PREFIX}{name.upper()}" for name in Settings.model_fields)


def setting_name(field: str) -> str:
    """The variable that sets a field."""
    return f"{PREFIX}{field.upper()}"


# --- reading ----------------------------------------------------------------------------------------------------


def load_settings(env: Mapping[str, str], dotenv: Path | None = None) -> Settings:
    """Read the settings; the environment wins over the file. An empty value is an unset one.

    Args:
        env: The process's environment; only `ASSAY_*` is looked at.
        dotenv: A `.env` file; one that does not exist is as good as none.

    Raises:
        SettingsError: with every problem found.
    """
    problems: list[str] = []
    from_file = {} if dotenv is None else dict(_dotenv(dotenv, problems))
    given = {name: value for name, value in {**from_file, **env}.items() if name.upper().startswith(PREFIX)}
    unknown = sorted(set(given) - set(SETTING_NAMES) - NOT_SETTINGS)
    problems.extend(_unknown(name) for name in unknown)
    values = {
        name.removeprefix(PREFIX).lower(): value.strip()
        for name, value in given.items()
        if name in SETTING_NAMES and value.strip()
    }
    problems.extend(_conflicts(values))
    try:
        settings = Settings(**values)  # type: ignore[arg-type]
    except ValidationError as error:
        problems.extend(_line(detail, values) for detail in error.errors(include_url=False, include_context=False))
        raise SettingsError(tuple(problems)) from None
    if problems:
        raise SettingsError(tuple(problems))
    return settings


def _conflicts(values: Mapping[str, str]) -> Iterator[str]:
    if "private_key" in values and "private_key_file" in values:
        yield "ASSAY_PRIVATE_KEY: is set together with ASSAY_PRIVATE_KEY_FILE; set one of the two"
    if "local_user" in values and not values.get("bind", "127.0.0.1:").startswith(LOOPBACK):
        yield "ASSAY_LOCAL_USER: would sign in strangers; set it only where ASSAY_BIND is loopback, like 127.0.0.1:8000"
    engine = values.get("engine_url", "")
    if engine.startswith("sqlite") and engine == values.get("database_url"):
        yield (
            "ASSAY_ENGINE_URL: is the SQLite file of ASSAY_DATABASE_URL, where the two would wait for each other for "
            "ever; for example ASSAY_ENGINE_URL=sqlite:////var/lib/assay/engine.db"
        )


def _dotenv(path: Path, problems: list[str]) -> Iterator[tuple[str, str]]:
    """The file's assignments. Text between them that is none, and a name set twice, are problems."""
    try:
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as problem:
        problems.append(f"{path}: cannot be read: {_reason(problem)}")
        return
    seen: set[str] = set()
    for binding in parse_stream(StringIO(text)):
        before = binding.original.string[: -len(binding.original.string.lstrip()) or None]
        where = f"{path}:{binding.original.line + before.count(chr(10))}"
        if binding.error or (binding.key is not None and binding.value is None):
            problems.append(f"{where}: is not NAME=value; for example {PREFIX}BIND=127.0.0.1:8000")
        elif binding.key is not None:
            if binding.key in seen:
                problems.append(f"{where}: {binding.key} is set a second time; keep one of the two")
            seen.add(binding.key)
            yield binding.key, str(binding.value)


def _reason(problem: OSError | UnicodeDecodeError) -> str:
    return (problem.strerror or "it failed").lower() if isinstance(problem, OSError) else "it is not text"


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name.upper()[:100], SETTING_NAMES, n=1, cutoff=0.7)
    guess = f"did you mean {close[0]}?" if close else f"allowed are {', '.join(SETTING_NAMES)}"
    return f"{name[:100]}: is no setting; {guess}"


def _line(detail: ErrorDetails, values: Mapping[str, str]) -> str:
    """One line for one problem: the setting, its value unless it is secret, what is wrong, and an example."""
    field = str(detail["loc"][0])
    message = detail["msg"] if detail["type"] in ("setting", "secret") else _plain(detail["msg"])
    info = Settings.model_fields[field]
    shown = "" if detail["type"] == "secret" or _secret(info) else f"{values.get(field, '')[:100]!r} "
    return f"{setting_name(field)}: {shown}{message}; {_example(field)}"


def _plain(message: str) -> str:
    text = message.removeprefix("Input ")
    return f"{text[:1].lower()}{text[1:]}"


def _secret(info: FieldInfo) -> bool:
    return "SecretStr" in repr(info.annotation)


def _example(field: str) -> str:
    return f"for example {setting_name(field)}={(Settings.model_fields[field].examples or [''])[0]}"
