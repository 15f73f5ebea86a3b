"""The whole loop on one machine: a GitHub stand-in, its reviewers, the App as its own process, one issue."""

from bot.demo.story import BadOption, DemoError, Options, run

__all__ = ["BadOption", "DemoError", "Options", "run"]
