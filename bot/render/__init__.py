"""Every sentence Assay says to people. Values in, text out: nothing is recomputed, read or sent here.

`bot.render.replies` holds the answers to commands; `bot.render.terminal` needs rich. Both are imported by themselves.
"""

from bot.render.checks import ReportRef, batches, external_id, fork_check, trial_check
from bot.render.issue import (
    edited_comment,
    has_marker,
    marker,
    mended_comment,
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
    "cut",
    "edited_comment",
    "external_id",
    "forbidden",
    "fork_check",
    "has_marker",
    "inert",
    "leaderboard_comment",
    "leaderboard_svg",
    "link",
    "marker",
    "mended_comment",
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
