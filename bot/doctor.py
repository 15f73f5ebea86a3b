"""What is wrong with an installation of the App, and what to do about it.

`fail` is what keeps runs from starting or makes them worthless; `warn` is what costs something: slower answers, silent
reviewers, an unknown that could be known. A question that GitHub does not answer is a finding, never a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.doctor_model import Finding, fail, ok, warn
from bot.doctor_target import author_findings, bot_findings, control_findings
from bot.model import Raw, RepoName
from bot.ports_github import GitHub, GitHubApp, GitHubError
from bot.registry import Registry

RECENT = timedelta(days=3)
"""How long GitHub keeps deliveries."""
SKEW_WARN, SKEW_FAIL = 10.0, 60.0
"""Seconds. A signature is dated a minute back; past that GitHub takes it for one from the future."""
FEW = 0.1
"""Of an hour's requests: less is soon none."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What has to be there."""

    permissions: Mapping[str, str]
    optional: frozenset[str]
    """Those of the permissions that the App works without."""
    events: Sequence[str]
    hook_path: str
    form_path: str
    form: bytes


@dataclass(frozen=True, slots=True)
class Patient:
    """What is looked at."""

    app: GitHubApp
    app_id: int
    registry: Registry
    public_url: str | None
    control_repo: RepoName | None
    now: Callable[[], datetime]
    expected: Expected


def examine(patient: Patient) -> tuple[Finding, ...]:
    """Everything that GitHub knows of."""
    findings = [*_guarded("clock", _clock, patient)]
    key = [*_guarded("key", _key, patient)]
    findings += key
    if any(one.level.value == "fail" for one in key):
        # Without the key every other question would only say so once more.
        return tuple(findings)
    for name, check in (
        ("permissions", _permissions),
        ("events", _events),
        ("webhook", _webhook),
        ("installations", _installations),
    ):
        findings += _guarded(name, check, patient)
    return tuple(findings)


def _guarded(name: str, check: Callable[[Patient], Iterator[Finding]], patient: Patient) -> tuple[Finding, ...]:
    found: list[Finding] = []
    try:
        found += check(patient)
    except GitHubError as error:
        found.append(unanswered(name, error))
    return tuple(found)


def unanswered(name: str, error: GitHubError) -> Finding:
    """A question that got no answer."""
    if error.status == 0:
        return fail(name, f"GitHub did not answer: {error.message}", "check ASSAY_GITHUB_API_URL and the network")
    return fail(name, f"GitHub said {error.status}: {error.message}", "see what it says, and look again")


# --- the App ----------------------------------------------------------------------------------------------------


def _clock(patient: Patient) -> Iterator[Finding]:
    before = patient.now()
    theirs = patient.app.server_time()
    if theirs is None:
        yield warn("clock", "GitHub does not tell its time", "keep this machine's clock right (NTP)")
        return
    # GitHub tells whole seconds, of some moment between asking and being answered.
    middle = before + (patient.now() - before) / 2
    off = (middle - theirs).total_seconds() - 0.5
    says = f"this clock is {abs(off):.0f} s {'ahead of' if off > 0 else 'behind'} GitHub's"
    if abs(off) >= SKEW_FAIL:
        yield fail("clock", says, "set the clock (NTP): GitHub refuses signatures that are a minute off")
    elif abs(off) >= SKEW_WARN:
        yield warn("clock", says, "set the clock (NTP) before it is a minute off")
    else:
        yield ok("clock", "agrees with GitHub's")


def _key(patient: Patient) -> Iterator[Finding]:
    try:
        raw = patient.app.details()
    except GitHubError as error:
        if error.status not in (401, 403, 404):
            raise
        remedy = "check ASSAY_APP_ID, ASSAY_CLIENT_ID and the private key; a new key is made in the App's settings"
        yield fail("key", f"GitHub does not accept the App's signature: {error.message}", remedy)
        return
    if int(raw["id"]) != patient.app_id:
        says = f"the key is that of App {raw['id']} ({raw['slug']}), and ASSAY_APP_ID is {patient.app_id}"
        yield fail("key", says, f"set ASSAY_APP_ID={raw['id']}, or the other App's client id and key")
        return
    yield ok("key", f"signs as {raw['slug']}")


def _permissions(patient: Patient) -> Iterator[Finding]:
    raw = patient.app.details()
    settings = f"{raw.get('html_url') or 'the App'}: Permissions & events"
    yield from _granted(
        "permissions", "the App's registration", raw.get("permissions") or {}, patient.expected, settings
    )
    surplus = sorted(set(raw.get("permissions") or {}) - set(patient.expected.permissions))
    if surplus:
        says = f"the App asks for more than is used: {', '.join(surplus)}"
        yield warn("permissions", says, f"take these away, in its settings ({settings})")


def _granted(check: str, who: str, held: Mapping[str, str], expected: Expected, where: str) -> Iterator[Finding]:
    """Compare permissions that are held with those that are needed."""
    lacking = {
        name: access
        for name, access in expected.permissions.items()
        if _LEVELS.index(held.get(name, "none")) < _LEVELS.index(access)
    }
    needed = {name: access for name, access in lacking.items() if name not in expected.optional}
    if needed:
        yield fail(check, f"{who} lacks {_listed(needed)}", f"give it, and let an owner accept it ({where})")
    elif lacking:
        says = f"{who} lacks {_listed(lacking)}; what it would tell is then not known"
        yield warn(check, says, f"give it, and let an owner accept it ({where})")
    else:
        yield ok(check, f"{who} has what is needed")


_LEVELS = ("none", "read", "write", "admin")


def _listed(permissions: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {access}" for name, access in sorted(permissions.items()))


def _events(patient: Patient) -> Iterator[Finding]:
    raw = patient.app.details()
    lacking = sorted(set(patient.expected.events) - set(raw.get("events") or ()))
    if lacking:
        says = f"the App does not hear of {', '.join(lacking)}; polling finds it later"
        yield warn("events", says, "tick these in the App's settings, under Permissions & events")
    else:
        yield ok("events", "the App hears of all it reads")


# --- deliveries -------------------------------------------------------------------------------------------------


def _webhook(patient: Patient) -> Iterator[Finding]:
    config = patient.app.hook_config()
    if config is None:
        yield warn("webhook", "GitHub does not say where deliveries go", "nothing; polling finds everything later")
        return
    url = str(config.get("url") or "")
    if not url:
        remedy = "set a webhook URL in the App's settings if answers should come at once"
        yield warn("webhook", "there are no deliveries: everything is found by polling", remedy)
        return
    yield from _hook_address(patient, config, url)
    yield from _deliveries(patient.app.deliveries(patient.now() - RECENT))


def _hook_address(patient: Patient, config: Raw, url: str) -> Iterator[Finding]:
    wanted = f"{patient.public_url}{patient.expected.hook_path}" if patient.public_url else None
    if wanted is not None and url != wanted:
        remedy = f"set the webhook URL to {wanted}, or ASSAY_PUBLIC_URL to what is right"
        yield fail("webhook", f"deliveries go to {url}, and ASSAY_PUBLIC_URL says {wanted}", remedy)
    elif not url.endswith(patient.expected.hook_path):
        remedy = f"let the webhook URL end with {patient.expected.hook_path}"
        yield fail("webhook", f"deliveries go to {url}, where nobody takes them", remedy)
    else:
        yield ok("webhook", f"deliveries go to {url}")
    if config.get("content_type") not in (None, "json"):
        yield fail(
            "webhook", f"deliveries come as {config['content_type']}", "set the content type to application/json"
        )
    if str(config.get("insecure_ssl", "0")) == "1":
        yield warn("webhook", "GitHub does not check the certificate of our address", "switch SSL verification on")


def _deliveries(attempts: Sequence[Raw]) -> Iterator[Finding]:
    if not attempts:
        remedy = "open an issue in the control repository, and look again"
        yield warn("deliveries", "none in the last three days, so nobody knows whether they arrive", remedy)
        return
    arrived = {one["guid"] for one in attempts if _arrived(one)}
    lost = [one for one in attempts if one["guid"] not in arrived]
    newest = attempts[0]
    says = f"{len(arrived)} arrived in the last three days, {len({one['guid'] for one in lost})} did not"
    if not arrived:
        remedy = "see whether the address is reached from outside, and the answer to deliveries in the App's settings"
        yield fail("deliveries", f"{says}; the last answer: {_answer(newest)}", remedy)
    elif not _arrived(newest) and newest["guid"] not in arrived:
        remedy = "see whether `assay serve` runs and its address is reached; lost ones are found by polling"
        yield warn("deliveries", f"{says}, among them the last one: {_answer(newest)}", remedy)
    elif lost:
        yield warn("deliveries", says, "nothing if that was a restart; polling finds what they told")
    else:
        yield ok("deliveries", says)


def _arrived(attempt: Raw) -> bool:
    return 200 <= int(attempt.get("status_code") or 0) < 300


def _answer(attempt: Raw) -> str:
    return f"{attempt.get('status_code') or 'none'} {attempt.get('status') or ''}".strip()


# --- installations ----------------------------------------------------------------------------------------------


def _installations(patient: Patient) -> Iterator[Finding]:
    there = patient.app.installation_details()
    if not there:
        remedy = "install it on the organisation that holds the control repository"
        yield fail("installations", "the App is installed nowhere", remedy)
    wanted = patient.control_repo
    if there and wanted is not None and not any(_login(one).lower() == wanted.owner.lower() for one in there):
        says = f"the App is not installed on {wanted.owner}, where ASSAY_CONTROL_REPO is"
        yield fail("installations", says, "install it there, or name another repository")
    for one in there:
        yield from _installation(patient, one)


def _login(installation: Raw) -> str:
    account = installation.get("account") or {}
    return str(account.get("login") or account.get("slug") or "?")


def _installation(patient: Patient, raw: Raw) -> Iterator[Finding]:
    owner, where = _login(raw), str(raw.get("html_url") or "the installation's settings")
    check = f"installation {owner}"
    if raw.get("suspended_at"):
        yield fail(check, "it is suspended", f"let an owner resume it ({where})")
        return
    yield from _granted(check, f"the installation on {owner}", raw.get("permissions") or {}, patient.expected, where)
    is_user = (raw.get("account") or {}).get("type") == "User"
    if is_user and raw.get("repository_selection") == "selected":
        says = "it sees selected repositories only, and the author's new ones are not among them"
        yield fail(check, says, f"let it have all repositories ({where})")
    github = patient.app.installation(int(raw["id"]))
    subjects: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        (f"rate {owner}", lambda: _rate(f"rate {owner}", github.rate())),
        (f"author {owner}", lambda: author_findings(patient.app, owner, is_user=is_user)),
        (f"reviewers {owner}", lambda: bot_findings(github, owner, patient.registry, github.identity().slug)),
        (f"control {owner}", lambda: _control(patient, owner, github)),
    )
    for name, look in subjects:
        try:
            yield from look()
        except GitHubError as error:
            yield unanswered(name, error)


def _control(patient: Patient, owner: str, github: GitHub) -> Iterator[Finding]:
    wanted = patient.control_repo or RepoName(owner, "assay")
    if wanted.owner.lower() != owner.lower():
        return
    yield from control_findings(github, wanted, patient.expected.form_path, patient.expected.form)


def _rate(check: str, resources: Mapping[str, Raw]) -> Iterator[Finding]:
    core = resources.get("core")
    if not core or not core.get("limit"):
        yield ok(check, "GitHub sets no limit, or does not say")
        return
    left, limit = int(core.get("remaining") or 0), int(core["limit"])
    says = f"{left} of {limit} requests are left this hour"
    if left < limit * FEW:
        yield warn(check, says, "wait for the hour to end; fewer runs at a time ask less")
    else:
        yield ok(check, says)
