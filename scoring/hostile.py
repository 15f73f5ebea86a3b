"""Text that tries to be more than a claim: hidden characters, and notes to whoever judges it.

A comment is evidence about the code. A sentence in it that addresses the judge is evidence about nothing, so it is
taken out of what is judged and the candidate is flagged; the verdict is then the same as if the note had not been made.
"""

from __future__ import annotations

import re
import unicodedata

INSTRUCTION = "instruction_like_text"
HIDDEN = "hidden_characters"

_DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\u200e\u200f")
_OVERRIDE = frozenset("\u202d\u202e")
_KEPT = frozenset("\n\t\u200c\u200d")
"""Joiners shape letters and emoji and reorder nothing."""

_JUDGE = (
    r"(?:grader|judge|evaluator|scorer|adjudicator|llm|(?:ai|llm|language)\s+(?:model|assistant|system|judge|reviewer))"
)
"""Not `model` or `assistant` alone: code has those too, and a remark about a model's field is a remark."""
_INSTRUCTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:note|message|instructions?|attention|notice|hint|memo)\s+(?:to|for)\s+(?:the\s+|any\s+|every\s+)?"
        rf"(?:[\w-]{{1,20}}\s+){{0,2}}{_JUDGE}s?\b",
        rf"\b(?:dear|hey|attention,?)\s+(?:[\w-]{{1,20}}\s+){{0,2}}{_JUDGE}s?\b",
        r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|of\s+){0,4}"
        r"(?:previous|prior|above|earlier|preceding|other|system|former)\s+(?:[\w-]{1,20}\s+)?"
        r"(?:instructions?|prompts?|rules?|guidelines|directions|context)\b",
        r"\b(?:reply|respond|answer|output|return|emit|say)\b[^\n]{0,80}"
        r"[{\"'`]\s{0,3}[\"'`]?(?:match|verdict|score|confidence)\b[\"'`]?\s{0,3}[:=]\s{0,3}[\"'`]?(?:true|match|yes|1|100|full)",
        r"\bmatch(?:es|ed|ing)?\s+(?:the|a|any|every|all|each)\s+(?:of\s+the\s+)?golden\s+"
        r"(?:comment|finding|issue|defect|bug|answer|label|annotation)s?\b",
        r"\byou\s+are\s+(?:now\s+)?(?:a|an|the)\s+(?:[\w-]{1,20}\s+){0,2}"
        r"(?:grader|judge|evaluator|scorer|adjudicator|assistant)\b",
        r"^\W{0,6}(?:grader|judge|evaluator|scorer|adjudicator)s?\s{0,3}[:,]",
        rf"\bas\s+(?:a|an|the)\s+{_JUDGE},?\s+you\b",
        r"\b(?:mark|count|score|rate|grade|treat|accept|classify)\s+(?:this|it|that|all|every|each|these|everything)\b"
        r"[^\n]{0,60}\b(?:true\s+positives?|a\s+match|as\s+match(?:ed|es|ing)?|as\s+found|golden)\b",
        r"<\|?(?:im_start|im_end|endoftext|system|assistant)\|?>|\[/?INST\]|<<SYS>>",
        r"^\W{0,6}(?:system|assistant)\s{0,3}(?:note|prompt|message|instruction)?s?\s{0,3}:",
        r"\bstop\s+(?:reading|judging|grading|evaluating)\s+(?:here|now|at)\b",
        r"忽略(?:以上|之前|前面|先前|所有|上述)[^\u3002\n]{0,12}(?:指令|指示|提示|规则|要求)",
        r"(?:评审|评分|裁判|评判|评测|评估)(?:者|员|模型|系统|人)?[^\u3002\n]{0,20}(?:请|必须|应当|务必)[^\u3002\n]{0,20}"
        r"(?:匹配|通过|满分|命中|正确)",
    )
)
_DELIMITER = re.compile(
    r"</?(?:candidate|golden|finding|comment|claim|system|user|assistant|input|data)s?>", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n")


def unhide(text: str) -> tuple[str, tuple[str, ...]]:
    """Text without control and direction characters, and the flags that tell what was taken.

    A line that an override turns round is dropped: what it shows is not what it says.
    """
    if not any(_hidden(character) for character in text):
        return text, ()
    turned = False
    lines = []
    for line in text.split("\n"):
        if _OVERRIDE & set(line):
            turned = True
        else:
            lines.append("".join(character for character in line if not _hidden(character)))
    kept = "\n".join(lines)
    return kept, (HIDDEN, INSTRUCTION) if turned or _DIRECTION & set(text) else (HIDDEN,)


def _hidden(character: str) -> bool:
    return character not in _KEPT and unicodedata.category(character) in ("Cc", "Cf") and character != "\r"


def addresses_judge(text: str) -> bool:
    """Whether a text speaks to whoever judges it."""
    return any(pattern.search(text) for pattern in _INSTRUCTIONS)


def without_notes(paragraph: str) -> tuple[str, bool]:
    """A paragraph without what it says to a judge, and whether there was anything.

    Sentences that address a judge go. A paragraph that also fakes a delimiter goes as a whole: everything in it stands
    on the wrong side of that delimiter.
    """
    if not addresses_judge(paragraph):
        return paragraph, False
    if _DELIMITER.search(paragraph):
        return "", True
    kept = [part for part in _SENTENCE.split(paragraph) if part and not addresses_judge(part)]
    rest = " ".join(kept).strip()
    return ("" if addresses_judge(rest) else rest), True
