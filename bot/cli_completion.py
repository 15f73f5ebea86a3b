"""Completion of commands, options and names by the shell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli_common import NOT_CARRIED_OUT, Failure, write

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SHELLS = ("bash", "zsh", "fish")
JUDGES = ("lexical", "deterministic", "human:", "litellm:", "panel:", "replay:")
"""Judges that need no bundle, and how the others' names begin."""
MOST = 50
"""Judges of one bundle that are offered."""
_NAME = re.compile(r'"judge": ?"([^"\\]{1,200})"')


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print what makes a shell complete commands, options, suites, judges and studies.

    For bash, put `eval "$(assay completion bash)"` into ~/.bashrc; for zsh the same with zsh into ~/.zshrc; for fish,
    write it to ~/.config/fish/completions/assay.fish.

    Example: assay completion bash > ~/.local/share/bash-completion/completions/assay
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    context = click.get_current_context()
    if found is None:
        raise Failure(f"this version of click knows no completion for {shell}", NOT_CARRIED_OUT)
    write(found(context.find_root().command, {}, "assay", "_ASSAY_COMPLETE").source())


# --- names that commands take, without reading more than names ------------------------------------------------------


def suites(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Suites that ship, and files."""
    from goldens.load import suite_names

    return _items(suite_names(), incomplete) or _files()


def studies(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Studies that ship, and files."""
    from bot.studies.schema import shipped_names

    return _items(shipped_names(), incomplete) or _files()


def judges(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Judges that can be asked, and those that stand in the bundle already named on the line."""
    given = [context.params.get(name) for name in ("folder", "bundle", "bundles")]
    found = [one for value in given for one in (value if isinstance(value, tuple) else (value,)) if one]
    # While the option itself has no value yet, what stands before it has not become a parameter.
    stored = (name for one in (*found, *context.args) for name in _stored(Path(one)))
    return _items((*stored, *JUDGES), incomplete)


def _stored(bundle: Path) -> list[str]:
    """The judges of a bundle's folder, read no further than to their names."""
    found = []
    for part in sorted((bundle / "judgements").glob("*.json"))[:MOST]:
        with part.open("rb") as file:
            name = _NAME.search(file.read(2000).decode("utf-8", "replace"))
        found += [name[1]] if name else []
    return found


def _items(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(incomplete)]


def _files() -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem("", type="file")]


COMMANDS = (completion,)
