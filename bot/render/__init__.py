"""Every sentence Assay says to people. Values in, text out: nothing is recomputed, read or sent here.

`bot.render.terminal` needs rich and is imported by itself.
"""

from bot.render.checks import ReportRef, batches, external_id, fork_check, trial_check
from bot.render.issue import (
    command_reply,
    has_marker,
    marker,
    next_step,
    not_a_form_comment,
    problems_comment,
    progress_comment,
    refusal_comment,
    welcome_issue,
)
from bot.render.leaderboard import LIMITS, leaderboard_comment, terms_notice
from bot.render.surface import Surface
from bot.render.svg import leaderboard_svg
from bot.render.text import clean, code, cut, forbidden, inert, link, plain, trigger_leaks

__all__ = [
    "LIMITS",
    "ReportRef",
    "Surface",
    "batches",
    "clean",
    "code",
    "command_reply",
    "cut",
    "external_id",
    "forbidden",
    "fork_check",
    "has_marker",
    "inert",
    "leaderboard_comment",
    "leaderboard_svg",
    "link",
    "marker",
    "next_step",
    "not_a_form_comment",
    "plain",
    "problems_comment",
    "progress_comment",
    "refusal_comment",
    "terms_notice",
    "trial_check",
    "trigger_leaks",
    "welcome_issue",
]
