"""What of a claim or a golden a model gets to see: cleaned, shortened, unable to open or close a delimiter.

Nothing is interpreted here and nothing is formatted into a template: text goes in as text. What looks like an attempt
to speak to the judge is noted as a flag, whether or not it was taken out.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from scoring import hostile
from scoring.model import Candidate, Golden, Place, ReviewerId

SIGIL = "\u00a7"
"""Opens every delimiter of a prompt, and never stands in what is quoted."""
SHORTENED = "shortened"
CANDIDATE_CHARACTERS = 3_000
GOLDEN_CHARACTERS = 2_000
DIFF_CHARACTERS = 6_000
PATH_CHARACTERS = 160
_SCANNED = 20_000
"""So many characters of a text are looked at for hidden instructions."""

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ud800-\udfff\U000e0000-\U000e01ff]"
)
"""Characters that show nothing and can carry something; joiners, variation selectors and lone surrogates among them."""
_TAGS = (
    "candidate|golden|remark|defect|claim|finding|comment|diff|data|untrusted|input|output|answer|verdicts?|system|"
    "assistant|user|human|developer|tool\\w{0,20}|function\\w{0,20}|invoke|parameter|think\\w{0,8}|instructions?|prompt"
)
_TAG = re.compile(rf"<(?=/?(?:{_TAGS})\b)", re.IGNORECASE)
_SUSPECT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"</(?:{_TAGS})\s{{0,5}}>",
        r"<(?:tool_?calls?|tool_?use|function_?calls?|invoke|think(?:ing)?|system|assistant)\b",
        r"<\|[^|\n]{1,40}\|?>|\[/?INST\]|<</?SYS>>|</?s>",
        r"^\W{0,6}(?:system|assistant|human)(?:\s(?:note|prompt|message|result|output))?\s{0,3}:",
        r"^\W{0,6}(?-i:User|USER|Developer|DEVELOPER|Tool|TOOL)(?:\s(?:note|prompt|message|result|output))?\s{0,3}:\s{1,3}\w",
        r"^\W{0,6}(?:begin|end|start)\s(?:of\s)?(?:system|developer|hidden|new)\s(?:prompt|message|instructions?)",
        r"[\"'`]?\b(?:verdicts?|golden|match|is_match)\b[\"'`]?\s{0,3}[:=]\s{0,3}[\[\"'`]{0,2}"
        r"(?:true|yes|match|g[0-9a-z]{4}\b|\{)",
        r"[{\[]\s{0,5}[\"'`](?:verdicts?|candidate|golden|match|tool|function|arguments|role|label)[\"'`]\s{0,3}:",
        r"[{%$]{1,2}\(?\s{0,3}(?:golden|candidate|verdict|prompt|system|schema|instruction)\w{0,30}",
        r"\{[^{}\n]{0,40}__(?:class|globals|init|dict|builtins|subclasses|mro|import)__",
        r"\b(?:grader|judge|evaluator)\s{0,3}[:=]\s{0,3}\S{0,10}(?:score|match|pass|1|yes)",
        r"\b(?:ignora|ignorer?|ignorez|olvida|oublie[zr]?|ignoriere|vergiss|ignoreer|zignoruj)\b[^\n.]{0,40}"
        r"\b(?:instruc\w{1,6}|instruktion\w{0,3}|anweisung\w{0,3}|istruzion\w|instru\w{1,8}|pr[ée]c[ée]dent\w{0,3}|polecenia)",
        r"(?:игнорируй|игнорируйте|забудь|забудьте)[^\n.]{0,40}(?:инструкци|указани|правил)",
        r"(?:以前|上記|これまで|前)の?(?:の)?(?:すべての)?(?:指示|命令|ルール)[^\n]{0,6}(?:無視|忘れ)",
        r"(?:이전|앞의|위의)[^\n]{0,10}(?:지시|명령|지침)[^\n]{0,8}(?:무시|잊)",
        r"(?:تجاهل|نادیده)[^\n]{0,30}(?:التعليمات|دستور)",
        r"\b(?:ignore|disregard|forget|skip)\b[^\n.]{0,30}\b(?:instructions?|rubric|guidelines|system\sprompt|your\srules)\b",
        r"\b(?:new|updated|revised)\s(?:system\s)?(?:instructions?|rubric|grading\srules?)\b",
        r"\b(?:every|all|each|any)\s(?:of\s)?(?:the\s|my\s|these\s|this\stool'?s?\s)?(?:remarks?|comments?|findings?|candidates?)"
        r"\s(?:\w{1,12}\s){0,4}(?:match(?:es)?|true\spositives?|correct|valid)\b",
        r"\b(?:set|give|assign|use|with)\s(?:a\s|the\s)?confidence\s(?:of\s|to\s|=\s?)?(?:1|100|0?\.9)",
        r"\b(?:you(?:r|'re|\sare)?)\b[^\n.]{0,40}\b(?:grader|judge|evaluator|grading|verdict)\b",
    )
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,4000}={0,2}")
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһкмтвнгпαοιενρτυκ", "aeopcyxijsdhkmtbhrnaoievptuk")
_BLANKS = re.compile(r"[ \t\u00a0\u2000-\u200a\u3000]{2,}")
_LINES = re.compile(r"\n{2,}")


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as a model sees it, and what was noticed about it."""

    head: str
    """Where it is, in one line; empty where that is not known."""
    text: str
    flags: tuple[str, ...] = ()


def candidate_shown(candidate: Candidate, reviewer: ReviewerId, cap: int = CANDIDATE_CHARACTERS) -> Shown:
    """A claim without notes to the judge, and without the reviewer's handle."""
    said = candidate.text if candidate.text.strip() else "\n".join(candidate.suggestions)
    said = said if said.strip() else candidate.title
    flags = dict.fromkeys(flag for flag in candidate.flags if flag in (hostile.INSTRUCTION, hostile.HIDDEN))
    visible, noticed = hostile.unhide(said)
    flags |= dict.fromkeys(noticed)
    path = candidate.place.path if candidate.place else ""
    if suspicious(said) or suspicious(visible) or suspicious(path):
        flags[hostile.INSTRUCTION] = None
    kept, addressed = _without_notes(visible)
    if addressed:
        flags[hostile.INSTRUCTION] = None
    text, cut = _clean(_anonymous(kept, reviewer), cap)
    if cut:
        flags[SHORTENED] = None
    return Shown(_head(candidate.place), text or "(nothing is said)", tuple(flags))


def golden_shown(golden: Golden, cap: int = GOLDEN_CHARACTERS) -> Shown:
    """A golden. A suite's text may quote an instruction, as part of the defect; nothing is taken out."""
    text, cut = _clean(golden.finding, cap)
    return Shown(_head(golden.place), text or "(nothing is said)", (SHORTENED,) if cut else ())


def diff_shown(path: str, diff: str) -> Shown:
    """The diff of a file around the lines in question."""
    kept = neutral(diff).strip("\n")
    return Shown(_head(Place(path)), shorten(kept, DIFF_CHARACTERS)[0])


def neutral(text: str) -> str:
    """Text that cannot open or close anything: no sigil, no fence, no chat markup, nothing invisible. Idempotent."""
    lines = "\n".join(text.splitlines())
    kept = _INVISIBLE.sub("", hostile.unhide(lines)[0])
    kept = kept.replace(SIGIL, "\u00b6").replace("```", "'''").replace("<|", "< |").replace("|>", "| >")
    return _TAG.sub("\u2039", kept)


def shorten(text: str, cap: int) -> tuple[str, bool]:
    """The beginning of a text, with a note of how much is left out."""
    if len(text) <= cap:
        return text, False
    return f"{text[:cap]} [... {len(text) - cap} more characters left out]", True


@lru_cache(maxsize=1024)
def suspicious(text: str) -> bool:
    """Whether a text looks like an attempt on the judge, in plain sight, in look-alike letters or in Base64."""
    scanned = text[:_SCANNED]
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", scanned))
    views = dict.fromkeys((scanned, plain, plain.casefold().translate(_LOOKALIKES)))
    return any(_attempts(view) for view in views) or any(_attempts(view) for view in _decoded(plain))


def _attempts(text: str) -> bool:
    if SIGIL + "c" in text or SIGIL + "g" in text or re.search(SIGIL + r"\s?\w{6,}", text):
        return True
    lines = text.splitlines()
    return any(hostile.addresses_judge(line) or any(one.search(line) for one in _SUSPECT) for line in lines)


def _decoded(text: str) -> list[str]:
    found = []
    for run in _BASE64.findall(text)[:8]:
        try:
            said = base64.b64decode(run[: len(run) // 4 * 4], validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        found.append(said)
    return found


def _without_notes(text: str) -> tuple[str, bool]:
    """A text without what it says to a judge; whole where nothing else would be left, for then that is the claim."""
    parts = [hostile.without_notes(part) for part in text.split("\n\n")]
    addressed = any(found for _, found in parts)
    kept = "\n\n".join(part for part, _ in parts if part.strip())
    return (kept if kept.strip() else text), addressed


def _anonymous(text: str, reviewer: ReviewerId) -> str:
    """Without the reviewer's handle. Its bare name stays: `cursor` or `copilot` may well be code."""
    if not reviewer:
        return text
    name = re.escape(reviewer)
    return re.sub(rf"@{name}(?:\[bot\])?(?![\w-])|(?<![\w-]){name}\[bot\]", "the reviewer", text, flags=re.IGNORECASE)


def _clean(text: str, cap: int) -> tuple[str, bool]:
    kept = _LINES.sub("\n", "\n".join(line.rstrip() for line in _BLANKS.sub(" ", neutral(text)).split("\n")))
    return shorten(kept.strip(), cap)


def _head(place: Place | None) -> str:
    if place is None:
        return ""
    path, _ = shorten(" ".join(neutral(place.path).split()), PATH_CHARACTERS)
    if place.lines is None:
        return path
    first, last = place.lines
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
