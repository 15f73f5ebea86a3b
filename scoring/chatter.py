"""What reviewers write that is no claim: the wordings that recur across products.

What one product says and no other belongs into the registry (`not_findings`), not here.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache


class Fate(StrEnum):
    """What becomes of a section."""

    DROP = "drop"
    """Nothing in it is a claim, whatever it looks like."""
    LISTED = "listed"
    """Prose in it is no claim, but listed items that name a place or a severity are."""
    OPEN = "open"
    """Claims may stand here in any form."""
    FIX = "fix"
    """A proposed change; kept beside the claim."""


LONGEST_SECTION_NAME = 6
"""Words."""


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.IGNORECASE)


_DROPPED_DETAILS = _any(
    r"\bprompts?\b.{0,40}\b(?:agents?|ai|llm)\b|^\W*agent prompt\b|"
    r"\bfix (?:all |this |with |in )+\b.{0,30}\b(?:ai|agents?|cursor|claude|codex)\b",
    r"\bthanks? for using\b|^\W*(?:about|how to|why (?:this|we|i)|share)\b|\bfinishing touch|"
    r"\bpre-merge checks?\b",
    r"\b(?:run|review|analysis|execution) (?:info|information|details|configuration|config|stack|settings|"
    r"metadata)\b",
    r"\bcommittable suggestion\b|\bcommits \(|\bfiles? (?:selected|ignored|skipped|processed|reviewed|with no|"
    r"not)\b",
    r"\bsummary per file\b|\bfiles? (?:summary|overview|walkthrough)\b|\badditional (?:locations?|context|"
    r"comments?)\b",
    r"\banalysis chain\b|\bscripts? executed\b|\bcode graph\b|\bweb quer(?:y|ies)\b|\breview(?:er.s)? guide\b",
    r"^\W*(?:[\w-]{1,30} ){1,2}(?:summary|overview)\W*$",
    r"\b(?:no|0) (?:issues?|findings?|comments?)\b",
    r"提示词|使用说明|流程图|变更文件",
)
_DROPPED_SHORT_DETAILS = _any(
    r"\btips?\b|\bhelp\b|\bcommands?\b|\bfeedback\b|\bconfiguration\b|\bcommits?\b|\bwalkthrough\b|"
    r"\bdiagrams?\b|\bpoem\b",
    r"\bflowchart\b|\blearnings?\b|\bautofix\b|\bestimated\b|\breferences?\b|\bpassed\b|\bconfidence\b|"
    r"\bscore\b",
    r"\bfiles changed\b",
    r"^\W*(?:evidence|relevant|sources?|citations?|related|duplicate|already|previously|resolved|fixed|"
    r"outdated|prompt)\b",
    r"配置|帮助",
)
"""Words that tell chatter only where the summary is short; in a longer one they may be what a finding is about."""
_SHORT_SUMMARY = 4
_FIX_DETAILS = _any(
    r"\b(?:suggested|proposed|recommended|possible) (?:fix|change|code|refactor|solution|patch|diff|update)",
    r"\bsuggest(?:ion|ed)\b.{0,20}\b(?:code|diff|patch)\b|^\W*(?:fix|diff|patch|refactor|solution)\W*$",
    r"(?:建议|推荐)(?:的)?(?:修改|修复|改法)",
)
_DROPPED_HEADING = _any(
    r"\bwalkthrough\b|\boverview\b|^\W*(?:\w+ ){0,2}changes(?: made| overview| summary)?\W*$|"
    r"\bwhat (?:changed|this|does|is|was|i)\b|\b(?:reviewed|changed|"
    r"important) files\b",
    r"\bfiles (?:changed|reviewed)\b|\b(?:sequence|flow|class|architecture)\b.{0,20}\bdiagrams?\b|"
    r"\bflowchart\b",
    r"\bstrengths?\b|\bpositives?\b|\bhighlights?\b|\bpros\b|\b(?:what.s|things?) (?:good|done well|great|"
    r"working)|\bgood (?:practices?|points?|parts?|things?|work|job|stuff)\b",
    r"\bwell[- ]done\b|\bwhat works\b|\bpraise\b|\bkudos\b|\blooks? good\b|^\W*(?:the )?good\W*$|\bapproved?\b",
    r"\btest(?:ing)? (?:notes?|plan|coverage|steps|strategy)\b|^\W*test(?:ing|s)?\W*$|\bhow to test\b|"
    r"\bverification\b",
    r"\bconfidence\b|\bscore\b|\bverdict\b|\bconclusion\b|\bfinal (?:thoughts?|remarks?)\b|\bnext steps\b|"
    r"\boverall\b",
    r"\btips?\b|\bpoem\b|\beffort\b|\bpre-merge\b|\brelated (?:issues?|prs?|pull)\b|\breview (?:skipped|"
    r"failed|limit|scope|details|status|info)",
    r"\bpull request (?:summary|description)|\bpr (?:summary|description|type)\b|\bdescription\b|\bscope\b|"
    r"\blimitations?\b|\bmethod(?:ology)?\b",
    r"优点|亮点|变更概述|修改概述|总体评价|总结",
)
_LISTED_HEADING = _any(r"\bsummary\b|\bassessment\b|\brecap\b|\btl;?dr\b", r"概要|摘要|概述")
_GENERIC_WORDS = (
    "issue issues finding findings bug bugs concern concerns problem problems suggestion suggestions "
    "comment comments "
    "remark remarks nitpicks nits must fix should nice to have potential possible code review reviews "
    "recommendation "
    "recommendations improvement improvements security performance correctness quality style logic and "
    "or of the in "
    "for with other further additional minor major critical high medium low found detected needs "
    "attention required "
    "action actionable outside diff range inline areas area questions risks risk notes note important "
    "general "
    "feedback results result analysis report severity priority warning warnings error errors ai by pull "
    "request pr "
    "blocking non summary posted more details per file files observation observations defects defect "
    "before merge "
    "pre this line lines optional consider worth checking could not be placed failed post items item"
)
_GENERIC = frozenset(_GENERIC_WORDS.split())
_COUNT = re.compile(r"\d+|[^\w\s]+")

_PRAISE = _any(
    r"^\W*(?:lgtm|nice|great|good(?! practice)|excellent|awesome|thanks?|thank you|kudos|love|perfect|"
    r"impressive)\b",
    r"^\W*(?:well|clean|solid|clever|neat|smart)[- ](?:\w{1,12} )?(?:code|implementation|work|solution|"
    r"approach|refactor\w*|changes?|fix|done|written|structured|tested|designed|thought|documented|"
    r"organized)\b",
    r"^\W*(?:looks? (?:good|great|fine|ok(?:ay)?|correct|solid)|i like)\b",
    r"^\W*(?:this|the|your|all|these|everything|overall|code|changes?|implementation|pr|"
    r"pull request)\b[^.!?\n]{0,60}\b(?:looks?|is|are|seems?)\s+(?:all\s+|very\s+|really\s+|quite\s+|"
    r"pretty\s+)?(?:good|great|fine|solid|clean|correct|well|ok(?:ay)?|sound|excellent|nice|safe to merge|"
    r"ready|in (?:good|great) shape)\b",
    r"^\W*[✅👍🎉💯🚀🙌👏]",
    r"^\W*(?:写得|做得)?(?:很好|不错|没有问题|没问题|看起来(?:很)?(?:好|不错))",
)
_NEGATION = _any(
    r"\b(?:but|however|except|although|though|unless|yet|nevertheless|while|missing|wrong|incorrect|broken|"
    r"fails?|never|bug|leak|race|crash|unsafe)\b",
    r"但|不过|然而|缺少|错误",
)
_NOTHING_FOUND = _any(
    r"\b(?:no|zero|0)\s{1,4}(?:\w{1,40}\s{1,4}){0,3}(?:issues?|problems?|bugs?|findings?|comments?|"
    r"concerns?|suggestions?|defects?|errors?|vulnerabilit(?:y|ies))\s{0,4}(?:were\s{1,4}|was\s{1,4}|"
    r"have\s{1,4}been\s{1,4}|to\s{1,4}report\s{0,4})?"
    r"(?:found|detected|identified|generated|reported|remain|posted|to report|here)?"
    r"(?:\s{1,4}(?:in|on|for|with|by|at|"
    r"during|after)\b.{0,60})?\s{0,4}[.!🎉✅]{0,9}\s{0,4}(?::\w{1,40}:)?$",
    r"\b(?:did ?n[o']?t|did not|could ?n[o']?t|could not|do ?n[o']?t|do not|have ?n[o']?t|found no|find no|"
    r"found nothing|see no|see nothing)\b.{0,12}\b(?:find|found|see|spot|detect|have|identify|nothing|issues?|"
    r"problems?|bugs?|concerns?)\b.{0,40}(?:issues?|problems?|bugs?|anything|concerns?|wrong|findings?|"
    r"nothing|comments?)?\s{0,4}[.!]{0,9}\s{0,4}(?:keep .{0,20})?(?::\w{1,40}:)?$",
    r"\bnothing (?:to (?:report|flag|add|fix)|else|found|stands out|suspicious)\b|"
    r"\bfound no (?:new )?(?:\w{1,40} )?issues?\b|\bno (?:new )?issues found\b",
    r"\bactionable comments posted: 0\b|未发现(?:任何)?(?:\w{0,4})?问题|没有发现(?:\w{0,4})?问题|无问题",
)
_STATUS = _any(
    r"^\W*(?:on it|working on it|got it|sure|ok(?:ay)?|done|will do|understood|acknowledged|ack|noted|"
    r"starting|started|queued|in progress|hold on|one moment)\b[^\n]{0,40}$",
    r"^\W*(?:review|analysis|re-?review|scan|check|build|tests?)\s+(?:is\s+|has\s+|was\s+|"
    r"have\s+)?(?:been\s+)?(?:finished|complete[d]?|done|started|triggered|in progress|queued|skipped|failed|"
    r"cancelled|canceled|passed|paused|limit reached|requested|resumed|succeeded)\b[^\n]{0,60}$",
    r"\b(?:currently|already|now)\s+(?:processing|reviewing|analy[sz]ing|running|re-?reviewing)\b|\b(?:is|am|"
    r"are|i'm|i'll|will) (?:now |currently )?(?:review|analy[sz]|look|check|scan)ing\b.{0,30}\b(?:pr|"
    r"pull request|changes?|code|this)\b",
    r"\b(?:rate[- ]limit(?:ed|s)?|usage limits?|quota|out of credits|no credits)\b.{0,80}\b(?:reviews?|"
    r"resets?|available|wait|reached|exceeded|upgrade|plan|ai|policy)\b|"
    r"\bnext review (?:will be )?available\b|\b(?:reviews?) (?:available|paused|skipped|limit)\b",
    r"\b(?:encountered an error|unable to review|could not (?:review|complete)|was not able to review|"
    r"failed to review|does not re-?review|reviews? (?:are|is) (?:disabled|paused)|automatically paused)\b",
    r"^\W*\d+\s+(?:remarks?|issues?|findings?|comments?|suggestions?|potential issues?|problems?|"
    r"bugs?)\b[^\n]{0,80}$|\bactionable comments posted\b|\bfound \d+ (?:potential )?(?:issues?|problems?|"
    r"bugs?)\b|\bgenerated (?:\d+|no) (?:new )?comments?\b",
    r"\breviewed (?:\d+|all|\w+) (?:out )?(?:of )?\d* ?(?:changed )?files?\b|\blast reviewed commit\b|"
    r"^\W*reviewed (?:commit|by|in|at)\b|^\W*review #?\d+\W*$|^\W*reviews? \(\d+\)",
    r"^\W*(?:to use|to trigger|to get|to request|to retry|click|comment|reply|react|was this (?:useful|"
    r"helpful)|use the|tag|mention|learn more|see (?:the )?docs|configure|upgrade|you can (?:disable|trigger|"
    r"ask|configure|manage))\b[^\n]{0,300}$",
    r"^\W*(?:i have |i've )?(?:reviewed|looked (?:at|over|through)|checked|analy[sz]ed|read) (?:the |this |"
    r"your |all )?(?:code|pr|pull request|changes?|diff|patch)\b[^.!?\n]{0,80}[.!]?$",
    r"^\W*(?:here (?:are|is)|below (?:are|is)|the following|please (?:see|find|review|address)|see (?:my |"
    r"the )?(?:inline|comments?))\b[^\n]{0,120}[:.]?$",
    r"^\W*(?:hi|hello|hey|welcome|greetings)\b[^\n]{0,80}$|"
    r"^\W*@[\w-]{1,40}(?:\[bot\])?\W*(?:please )?(?:review|help)?\W*$|^\W*/\w[\w-]{0,30}(?: \w{1,20})?\W*$",
    r"^\W*(?:approv(?:ed?|ing|al)|(?:changes )?requested|needs? (?:a )?human|ready (?:for|to)|"
    r"request(?:ing)? changes|ship it)\b[^\n]{0,60}$",
    r"^\W*also applies to\b[^\n]{0,120}$|\bcopy this prompt\b|^\W*note: if this suggestion doesn.t match\b",
    r"^\W*(?:正在|已经?|开始)(?:评审|审查|检查|完成|处理)[^\n]{0,40}$|^\W*收到\W*$|^\W*(?:好的|明白)\W*$",
)
_WITHDRAWN = _any(
    r"\b(?:you(?:'|\u2019)?re|you are|that(?:'|\u2019)?s|that is) (?:absolutely |quite |completely )?(?:right|"
    r"correct)\b|\btake (?:this|that|it)(?: one)? back\b|\bwithdraw(?:n|ing)?\b|\bmy (?:mistake|bad|"
    r"apologies)\b|\bfalse (?:positive|alarm)\b.{0,30}\bsorry\b|\bsorry for the (?:noise|confusion)\b|"
    r"\bi agree with\b",
)
_DESCRIBES = _any(
    r"^\W*(?:this|the|these)\s+(?:pr|pull request|change(?:s|set)?|commit|patch|diff|update|"
    r"merge request)s?\s+(?:\w{1,20}ly\s+)?"
    r"(?:add|introduc|refactor|fix|implement|updat|mov|renam|replac|remov|improv|chang|migrat|enhanc|clean|"
    r"contain|consist|mak|extend|bump|rework|rewrit|simplif|switch|extract|modif|convert|adjust|enabl|allow|"
    r"address|optimi|aim|focus|also)\w{0,10}\b",
    r"^\W*(?:adds|introduces|refactors|implements|updates|moves|renames|migrates|bumps|extracts|"
    r"enhances)\b[^\n]{0,200}$",
    r"^\W*(?:本|此|该)(?:次)?(?:pr|合并请求|提交|变更|改动|拉取请求)",
)
_FOOTER = _any(
    r"^\W*(?:note: )?if this suggestion doesn.t match\b|^\W*(?:was this|is this|"
    r"did you find this)\b.{0,40}\b(?:useful|helpful)\b",
    r"^\W*(?:reviewed|reported|generated|posted|powered) (?:by|for|with)\b|^\W*copy this prompt\b|"
    r"^\W*also applies to\b",
    r"^\W*(?:react|reply|comment) (?:with|to)\b|^\W*(?:fix|open|edit|view|resolve) (?:this |it )?(?:in|with|"
    r"on) (?:cursor|claude|codex|web|ide|github|an agent)\b",
    r"^\W*(?:learn more|see (?:the )?(?:docs|documentation)|prompt for ai)\b.{0,80}$",
)
_RESTATES = _any(
    r"^\W*(?:the|this|my|our)\s+(?:code\s+)?review\s+(?:\w{1,20}ly\s+)?(?:identif|found|finds|highlight|cover|"
    r"focus|comment|suggest|point|address|note|raise|flag)\w*",
    r"^\W*(?:i|we)(?:'ve| have)?\s+(?:left|found|identified|noted|flagged|made|highlighted|provided|added)\b",
    r"^\W*(?:the\s+)?(?:key|main|primary|most (?:important|critical|significant)|other|notable|"
    r"these)\s+(?:issues?|findings?|concerns?|points?|feedback|comments?|suggestions?|areas?|problems?)\b",
)
_FAULT = _any(
    r"\b(?:bug|wrong|incorrect(?:ly)?|fails?|broken|breaks|crash(?:es)?|leaks?|race|missing|never|instead of|"
    r"unsafe|vulnerab\w{0,8}|throws?|raises?|null|deadlock|overflow|inject\w{0,5}|not (?:released|checked|"
    r"closed|handled|validated|locked|awaited|escaped)|regress\w{0,5}|but|however)\b",
    r"错误|缺少|泄漏|崩溃|未(?:检查|处理|释放|关闭)|竞争|漏洞|但",
)
_LETTER_LIKE = {ord("\u2139"): " "}
"""The information sign counts as a letter; as the head of a summary it is decoration."""
_KIND = re.compile(r"[\"']?kind[\"']?\s{0,3}[:=]\s{0,3}[\"']?([\w -]{1,40})", re.IGNORECASE)
_CLAIM_KINDS = _any(r"review|finding|issue|comment|bug|inline|security|suggest|nit|problem|defect|annotation")
_HIDDEN_PAIR = re.compile(
    r"^(?:walkthrough|tips|suggestion|internal state|review_stack_entry|pre_merge_checks\w*|finishing_touch\w*|"
    r"[\w ]{0,30}fix_all|[\w ]{0,30}autofix\w*|[\w ]{0,30}footnote|[\w ]{0,30}footer|locations)$",
    re.IGNORECASE,
)
_PAIR_EDGE = re.compile(r"(/?)\s{0,4}([\w .-]{1,60}?)(?:[\s_-]{1,4}(start|begin|end))?", re.IGNORECASE)


@cache
def details_fate(summary: str) -> Fate:
    """What the summary of a `<details>` says about its inside."""
    summary = summary.translate(_LETTER_LIKE)
    if _FIX_DETAILS.search(summary):
        return Fate.FIX
    if _DROPPED_DETAILS.search(summary):
        return Fate.DROP
    words = [word for word in summary.split() if any(map(str.isalpha, word))]
    return Fate.DROP if len(words) <= _SHORT_SUMMARY and _DROPPED_SHORT_DETAILS.search(summary) else Fate.OPEN


@cache
def heading_fate(heading: str) -> Fate:
    """What a heading says about the text below it. A long heading is a sentence, and may be a finding."""
    if len(heading.split()) > LONGEST_SECTION_NAME:
        return Fate.OPEN
    if _DROPPED_HEADING.search(heading):
        return Fate.DROP
    return Fate.LISTED if _LISTED_HEADING.search(heading) else Fate.OPEN


def generic(heading: str) -> bool:
    """Whether a heading names a kind of section (`3 critical issues`) and not one finding."""
    words = _COUNT.sub(" ", heading.lower()).split()
    return all(word in _GENERIC for word in words)


def hidden_edge(mark: str) -> tuple[str, bool] | None:
    """For an HTML comment that begins or ends a stretch that is no claim: its name, and whether it begins."""
    edge = _PAIR_EDGE.fullmatch(mark.strip())
    if not edge or not _HIDDEN_PAIR.match(edge[2].strip()):
        return None
    ends = bool(edge[1]) or (edge[3] or "").lower() == "end"
    return edge[2].strip().lower(), not ends


def other_kind(mark: str) -> str | None:
    """The kind a reviewer stamped on a comment, where it is one that holds no findings."""
    kind = _KIND.search(mark)
    return kind[1].strip() if kind and not _CLAIM_KINDS.search(kind[1].replace("_", " ")) else None


def footer(line: str) -> bool:
    """Whether a line below a claim is about the review and not about the code."""
    return bool(_FOOTER.search(line))


def faults(text: str) -> bool:
    """Whether a text speaks of something going wrong."""
    return bool(_FAULT.search(text))


def withdraws(text: str) -> bool:
    """Whether a text takes a claim back or answers someone."""
    return bool(_WITHDRAWN.search(text))


def restates(sentence: str) -> bool:
    """Whether a sentence tells what a review says elsewhere."""
    return bool(_RESTATES.search(sentence))


def no_claim(text: str, *, placed: bool = False) -> str | None:
    """Why a sentence or a short paragraph claims nothing about the code, or None if it may be a claim.

    `placed`: it was put on a line of the diff, where "adds a lock" is a remark and no description of the change.
    """
    plain = text.strip().strip("*_`#> ")
    if not any(character.isalnum() for character in plain):
        return "nothing said" if not _PRAISE.search(plain) else "praise"
    if _NOTHING_FOUND.search(plain):
        return "says that nothing was found"
    if _STATUS.search(plain) or _WITHDRAWN.search(plain):
        return "status or answer"
    if _PRAISE.search(plain) and not _NEGATION.search(plain):
        return "praise"
    if not placed and _DESCRIBES.search(plain) and not _FAULT.search(plain):
        return "tells what the change does"
    return None
