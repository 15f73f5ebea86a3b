"""Registering the App and preparing a control repository."""

from __future__ import annotations

import json
import os
import secrets
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli_common import BAD_INPUT, NOT_CARRIED_OUT, Failure, say, working, write

if TYPE_CHECKING:
    from bot.adapters.github_manifest import Registered
    from bot.settings import Settings
    from bot.setup_manifest import Wanted

KEYS = (
    "ASSAY_APP_ID",
    "ASSAY_CLIENT_ID",
    "ASSAY_CLIENT_SECRET",
    "ASSAY_PRIVATE_KEY",
    "ASSAY_PRIVATE_KEY_FILE",
    "ASSAY_WEBHOOK_SECRET",
)
"""What belongs to one App."""


@click.command()
@click.option("--org", metavar="NAME", help="The organisation that shall own the App. Default: your own account.")
@click.option("--url", metavar="URL", help="Where GitHub reaches the App. Without: no webhooks, everything by polling.")
@click.option(
    "--name", metavar="NAME", help="The App's name, which everybody sees on the forks. Default: a neutral one."
)
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening it.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the page on this machine; 0: any.")
@click.option(
    "--env-file", type=click.Path(dir_okay=False, path_type=Path), default=Path(".env"), show_default=True,
    help="Where the keys go.",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="Replace the App that the file names already, without asking.")
@click.option("--control", metavar="OWNER/NAME", help="Put the issue form and its label into this repository instead.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def setup(
    org: str | None, url: str | None, name: str | None, no_browser: bool, port: int, env_file: Path, yes: bool,
    control: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Register the App with GitHub and write its keys; with --control, prepare a control repository.

    The keys go to a file that only you can read. What else stands in it is kept.

    Example: assay setup --org acme --url https://assay.example.com
    """
    if control is not None:
        if org or url or name:
            raise Failure("--control goes with none of --org, --url and --name; register the App first", BAD_INPUT)
        _show(_prepare(_repo(control), env_file), as_json)
        return
    settings = _settings(env_file)
    wanted = _wanted(settings, org, url, name)
    before = _before(env_file, yes)
    registered = _register(settings, wanted, port, no_browser)
    _keep(settings, wanted, registered, env_file, before)
    _show(_next_steps(settings, registered, env_file), as_json)


def _settings(env_file: Path) -> Settings:
    from bot.settings import SettingsError, load_settings

    try:
        return load_settings(os.environ, env_file)
    except SettingsError as error:
        raise Failure(str(error), BAD_INPUT) from None


def _wanted(settings: Settings, org: str | None, url: str | None, name: str | None) -> Wanted:
    import re

    from bot.composition import web_url
    from bot.settings import SettingsError, load_settings
    from bot.setup_manifest import LONGEST_NAME, Wanted, proposed_name

    if org is not None and not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,98}[A-Za-z0-9])?", org, re.ASCII):
        raise Failure(f"--org: {org!r} is no name of an organisation; for example --org acme", BAD_INPUT)
    if url is not None:
        try:
            url = load_settings({"ASSAY_PUBLIC_URL": url}).public_url
        except SettingsError as error:
            raise Failure(str(error).replace("ASSAY_PUBLIC_URL", "--url"), BAD_INPUT) from None
    if name is not None and not 1 <= len(name.strip()) <= LONGEST_NAME:
        raise Failure(f"--name: has to have 1 to {LONGEST_NAME} characters", BAD_INPUT)
    chosen = (name or proposed_name(secrets.token_bytes(32))).strip()
    return Wanted(chosen, org, web_url(settings.github_api_url), url or settings.public_url)


def _before(env_file: Path, yes: bool) -> str:
    """The file as it is, once it is clear that it may be changed."""
    from bot import setup_env

    try:
        text = setup_env.read(env_file)
        setup_env.check_writable(env_file)
    except setup_env.EnvError as error:
        raise Failure(str(error), BAD_INPUT) from None
    held = [name for name in KEYS if setup_env.values(text).get(name)]
    elsewhere = [name for name in KEYS if os.environ.get(name)]
    if elsewhere:
        what = f"{', '.join(elsewhere)}: set in the environment, which wins over {env_file}; unset it first"
        raise Failure(what, BAD_INPUT)
    if held and not yes:
        what = (
            f"{env_file} names an App already ({', '.join(held)}). Replace it? The old file is kept beside the new one"
        )
        if not sys.stdin.isatty():
            raise Failure(f"{env_file} names an App already ({', '.join(held)}); --yes replaces it", BAD_INPUT)
        click.confirm(what, abort=True, err=True)
    return text


def _register(settings: Settings, wanted: Wanted, port: int, no_browser: bool) -> Registered:
    from bot.adapters.github_manifest import convert
    from bot.ports_github import GitHubError
    from bot.setup_flow import Door

    try:
        with Door(wanted, port) as door:
            say(f"open this page to register an App named {wanted.name}:")
            click.echo(door.address, err=True)
            if not no_browser and not webbrowser.open(door.address):
                say("no browser could be opened here; open the page yourself, on this machine")
            with working("waiting for GitHub"):
                code = door.wait()
    except OSError as error:
        raise Failure(f"--port: cannot listen on {port}: {error.strerror}; leave it out", NOT_CARRIED_OUT) from None
    if code is None:
        raise Failure("nothing came back within an hour; begin anew", NOT_CARRIED_OUT)
    try:
        return convert(settings.github_api_url, code)
    except GitHubError as error:
        remedy = f"delete the App at {wanted.web_url}/settings/apps if it is there, and begin anew"
        raise Failure(f"the keys could not be had ({error}); {remedy}", NOT_CARRIED_OUT) from None


def _keep(settings: Settings, wanted: Wanted, registered: Registered, env_file: Path, before: str) -> None:
    from bot import setup_env

    secret = registered.webhook_secret or _set_secret(settings, registered)
    new = {
        "ASSAY_APP_ID": str(registered.app_id),
        "ASSAY_CLIENT_ID": registered.client_id,
        "ASSAY_PRIVATE_KEY": registered.private_key.strip(),
        "ASSAY_WEBHOOK_SECRET": secret,
    }
    if settings.github_api_url != "https://api.github.com":
        new["ASSAY_GITHUB_API_URL"] = settings.github_api_url
    if wanted.public_url:
        new["ASSAY_PUBLIC_URL"] = wanted.public_url
    if registered.client_secret:
        new["ASSAY_CLIENT_SECRET"] = registered.client_secret
    old = setup_env.values(before)
    try:
        if any(old.get(name) for name in KEYS):
            setup_env.write(_kept(env_file), before)
        setup_env.write(env_file, setup_env.changed(before, new, without=frozenset({"ASSAY_PRIVATE_KEY_FILE"})))
    except setup_env.EnvError as error:
        remedy = f"make a new key at {registered.html_url} and set it by hand, or delete the App there"
        raise Failure(
            f"the App is registered, but its keys could not be kept ({error}); {remedy}", NOT_CARRIED_OUT
        ) from None


def _kept(env_file: Path) -> Path:
    """A name for the old file that is not taken."""
    numbers = (f"{env_file.name}.before-{number}" for number in range(1, 10_000))
    return next(path for path in map(env_file.with_name, numbers) if not path.exists())


def _set_secret(settings: Settings, registered: Registered) -> str:
    """A secret of ours, where GitHub gave none."""
    from pydantic import SecretStr

    from bot.composition import app_of
    from bot.ports_github import GitHubError
    from bot.settings import Settings

    secret = secrets.token_hex(32)
    own = Settings(
        github_api_url=settings.github_api_url,
        app_id=registered.app_id,
        client_id=registered.client_id,
        private_key=SecretStr(registered.private_key),
    )
    try:
        app_of(own).set_hook_secret(secret)
    except GitHubError as error:
        say(f"the webhook's secret could not be set ({error}); set ASSAY_WEBHOOK_SECRET's at {registered.html_url}")
    return secret


def _next_steps(settings: Settings, registered: Registered, env_file: Path) -> dict[str, Any]:
    address = registered.html_url.rstrip("/")
    return {
        "done": f"{registered.slug} is registered; its keys are in {env_file}",
        "install": f"{address}/installations/new",
        "next": [
            f"install it: {address}/installations/new",
            "set ASSAY_AUTHOR_TOKEN to a person's token, so that reviewers answer as they would to a person",
            "assay setup --control OWNER/NAME   (the issue form)",
            "assay doctor",
        ],
    }


# --- the control repository -------------------------------------------------------------------------------------


def _repo(text: str) -> Any:
    from bot.settings import SettingsError, load_settings

    try:
        return load_settings({"ASSAY_CONTROL_REPO": text}).control_repo
    except SettingsError as error:
        raise Failure(str(error).replace("ASSAY_CONTROL_REPO", "--control"), BAD_INPUT) from None


def _prepare(repo: Any, env_file: Path) -> dict[str, Any]:
    from bot import composition, inspect
    from bot.issue_form import FORM_PATH
    from bot.ports_github import GitHubError
    from bot.settings import SettingsError
    from bot.setup_control import NoInstallation, prepare

    settings = _settings(env_file)
    form = inspect.issue_form_text(settings)
    try:
        done = prepare(composition.app_of(settings), repo, FORM_PATH, form.encode())
    except SettingsError as error:
        raise Failure(str(error), BAD_INPUT) from None
    except NoInstallation as error:
        raise Failure(str(error), NOT_CARRIED_OUT) from None
    except GitHubError as error:
        raise Failure(f"{repo}: {error}; `assay doctor` says more", NOT_CARRIED_OUT) from None
    steps = [f"people ask for runs at {composition.web_url(settings.github_api_url)}/{repo}/issues/new/choose"]
    if settings.control_repo is None and repo.name != "assay":
        steps.append(f"set ASSAY_CONTROL_REPO={repo}")
    return {"done": f"{repo}: {', '.join(done)}", "next": steps}


def _show(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write(json.dumps(result, indent=1))
        return
    write(result["done"])
    for step in result["next"]:
        write(f"  - {step}")


COMMANDS = (setup,)
