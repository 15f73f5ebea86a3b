"""The command `assay` itself: every other one is loaded when it is asked for, and listed by what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click

from bot.cli_manner import MANNER, taught


class Place(NamedTuple):
    """Where a command is, and what it does in a line."""

    module: str
    """What follows `bot.cli_`; its COMMANDS hold the command."""
    told: str


SECTIONS: Mapping[str, Mapping[str, Place]] = {
    "Try it": {
        "demo": Place("basics", "Run the whole loop on this machine: no key, no network."),
    },
    "The App": {
        "setup": Place("setup", "Register the App, or prepare a control repository."),
        "doctor": Place("doctor", "See whether everything that a run needs is there."),
        "preflight": Place("forks", "Ask every reviewer once, and see who answers how fast."),
        "fork": Place("forks", "Rehearse the forks of a suite; nothing is sent."),
        "form": Place("basics", "Print the issue form for the control repository."),
        "serve": Place("workers", "Run the App: take deliveries and work on runs."),
        "worker": Place("workers", "Work on runs, without a web server."),
        "db": Place("workers", "Check the databases, or bring them to this version."),
        "status": Place("basics", "Show the runs of the data directory."),
    },
    "Evidence": {
        "scrape": Place("scrape", "Read forks that stand already into a bundle."),
        "import": Place("bundles", "Make a bundle of somebody else's files."),
        "export": Place("bundles", "Write a bundle as somebody else's files."),
        "bundle": Place("bundles", "Check, pack and unpack bundles."),
        "site": Place("site", "Write bundles as pages that need no server."),
    },
    "Figures": {
        "leaderboard": Place("scoring", "Rank reviewers, with intervals and ties."),
        "compare": Place("scoring", "Say whether reviewer A is ahead of B; a gate for releases."),
        "overlap": Place("scoring", "Say what reviewers find together and alone."),
        "rescore": Place("scoring", "Score evidence again, under any published rules."),
        "power": Place("scoring", "Say how many pull requests tell two reviewers apart."),
    },
    "Judges": {
        "judge": Place("judges", "Add a judge's verdicts to a bundle."),
        "calibrate": Place("judges", "Measure how good a judge is."),
        "adjudicate": Place("judges", "Decide in person what judges left open."),
    },
    "Suites, and reviewers of ours": {
        "goldens": Place("goldens", "Look at, check, make, mine and keep suites of goldens."),
        "review": Place("review", "Review a suite, a pull request or two folders, offline."),
        "study": Place("study", "Run suites x reviewers x prompts x judges from one file."),
    },
    "The shell": {
        "completion": Place("completion", "Print what makes a shell complete commands and names."),
    },
}
"""Heading -> command. A new command gets its line here; the help is made of it, so that it loads no command."""
PLACES: Mapping[str, Place] = {name: place for section in SECTIONS.values() for name, place in section.items()}


class Assay(click.Group):
    """Loads a command's module when the command is asked for."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """As any command, but one run's manner is never that of another in the same process."""
        MANNER.reset()
        return super().make_context(info_name, args, parent, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the help."""
        return list(PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, loaded now."""
        if cmd_name not in PLACES:
            return None
        module = import_module(f"bot.cli_{PLACES[cmd_name].module}")
        return taught(next(one for one in module.COMMANDS if one.name == cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A list for each heading."""
        longest = max(map(len, PLACES))
        for heading, section in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(longest), place.told) for name, place in section.items()])
