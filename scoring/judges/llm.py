"""A language model as judge, without the asking: what to ask for a trial, and what the answers come to.

One call covers all open candidates and goldens of a trial. The model sees opaque ids in shuffled order, never the
reviewer's name; what it answers counts only if it fits the form and names ids that were offered. Everything said by
reviewers, suites and the model itself is data throughout.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any, TypeVar

from scoring import hostile
from scoring.judges import shown
from scoring.judges.asks import Ask, Message, Question, Reading, Reply, Unscored, Verdicts
from scoring.judges.decoys import decoys
from scoring.judges.merging import merge
from scoring.judges.prompt import Item, Order, block, closing, fence_of, lay_out, prompt
from scoring.judges.reply import Answer, ReplyError, rows
from scoring.judges.rubrics import MATCH, Rubric
from scoring.model import Candidate, CandidateId, Golden, GoldenId, Judgement, Verdict

Json = Any
_T = TypeVar("_T")
SMALLEST_CAP = 200
_QUOTED = 1_500
"""So many characters of a malformed answer are shown to the model that gave it."""
_ORDERS: tuple[Order, ...] = ("forward", "backward")


def rough_tokens(text: str) -> int:
    """About as many tokens as a text has, rather too many: three bytes to a token."""
    return len(text.encode("utf-8", "replace")) // 3 + 1


@dataclass(frozen=True, slots=True)
class _Caps:
    """How much of each text is shown."""

    candidate: int = shown.CANDIDATE_CHARACTERS
    golden: int = shown.GOLDEN_CHARACTERS
    context: bool = True


class LlmJudge:
    """Plans the calls for a trial and reads the answers. See the module's description."""

    def __init__(
        self,
        model: str,
        *,
        orders: int = 1,
        context: bool = False,
        decoys: bool = True,
        max_prompt_tokens: int = 24_000,
        count_tokens: Callable[[str], int] = rough_tokens,
        temperature: float | None = 0,
        seed: int | None = 7,
        max_attempts: int = 3,
        rubric: Rubric = MATCH,
    ) -> None:
        """Set up a judge.

        Args:
            model: The model's name, as the provider knows it.
            orders: 2 asks in two orders of presentation; what they disagree about is undecided.
            context: Whether the diff around the lines in question is shown.
            decoys: Whether each call carries claims whose answer is known.
            max_prompt_tokens: A prompt that outgrows this is split.
            count_tokens: How many tokens a text has for this model.
            temperature: Passed on; None where the model takes none.
            seed: Passed on; None where the model takes none.
            max_attempts: How often one call may be asked, malformed answers included.
            rubric: What is asked.
        """
        if orders not in (1, 2):
            raise ValueError(f"a judge asks in 1 or 2 orders, not {orders}")
        if max_attempts < 1 or max_prompt_tokens < 1:
            raise ValueError("max_attempts and max_prompt_tokens must be 1 or more")
        self.model, self.orders, self.context, self.decoys = model, orders, context, decoys
        self.max_prompt_tokens, self.max_attempts, self.rubric = max_prompt_tokens, max_attempts, rubric
        self._count = count_tokens
        self._sampling = {"temperature": temperature, "seed": seed}
        self.prompt_sha256 = _sha256(prompt(rubric.prompt), prompt("again"))

    @property
    def details(self) -> Mapping[str, Json]:
        """How this judge asks, for the record."""
        return {
            "model": self.model,
            "rubric": self.rubric.name,
            "prompt_sha256": self.prompt_sha256,
            "orders": self.orders,
            "context": self.context,
            "decoys": self.decoys,
            "max_prompt_tokens": self.max_prompt_tokens,
            "max_attempts": self.max_attempts,
            **self._sampling,
        }

    @property
    def name(self) -> str:
        """The model, and a hash over the instructions and all settings."""
        rubric = "" if self.rubric is MATCH else f"/{self.rubric.name}"
        return f"litellm:{self.model}{rubric}/{_sha256(json.dumps(self.details, sort_keys=True))[:8]}"

    # --- asking

    def plan(self, question: Question) -> tuple[Ask, ...]:
        """The calls for one trial; none where there is nothing to decide.

        Raises:
            ValueError: an id is not unique, or one claim and one golden do not fit into `max_prompt_tokens`.
        """
        _unique(candidate.id for candidate in question.candidates)
        _unique(golden.id for golden in question.goldens)
        if not question.candidates or not (question.goldens or self.rubric.without_goldens):
            return ()
        ordered = replace(
            question,
            candidates=tuple(sorted(question.candidates, key=lambda one: (one.text, str(one.place), one.id))),
            goldens=tuple(sorted(question.goldens, key=lambda one: (one.finding, str(one.place), one.id))),
        )
        return tuple(ask for part in self._parts(ordered) for ask in part[: self.orders])

    def prompt_tokens(self, ask: Ask) -> int:
        """How many tokens a call takes, its schema included; for an estimate before asking."""
        return sum(self._count(message.content) for message in ask.messages) + self._count(json.dumps(ask.schema))

    def content_key(self, question: Question, candidate: Candidate) -> str:
        """A key over all that should decide one candidate's verdicts, for a cache finer than whole calls."""
        goldens = sorted(_content(shown.golden_shown(golden)) for golden in question.goldens)
        said = _content(shown.candidate_shown(candidate, question.reviewer))
        context = dict(question.context) if self.context else {}
        return _sha256(json.dumps([self.name, said, goldens, context], sort_keys=True))

    def _parts(self, question: Question) -> list[tuple[Ask, ...]]:
        """The question as calls in every order, halved until each fits."""
        caps = _Caps(context=self.context)
        asks = self._asks(question, caps)
        if self._fits(asks):
            return [asks]
        if len(question.candidates) > 1:
            halves = [replace(question, candidates=half) for half in _halves(question.candidates)]
        elif len(question.goldens) > 1:
            halves = [replace(question, goldens=half) for half in _halves(question.goldens)]
        else:
            return [self._shortened(question, caps)]
        return [part for half in halves for part in self._parts(half)]

    def _shortened(self, question: Question, caps: _Caps) -> tuple[Ask, ...]:
        """One claim and one golden, without context and with ever less of their texts."""
        cap = caps.golden
        while cap >= SMALLEST_CAP:
            asks = self._asks(question, _Caps(cap, cap, context=False))
            if self._fits(asks):
                return asks
            cap //= 2
        needed = self.prompt_tokens(self._asks(question, _Caps(SMALLEST_CAP, SMALLEST_CAP, context=False))[0])
        raise ValueError(
            f"max_prompt_tokens is {self.max_prompt_tokens}; one claim and one golden need {needed} even when shortened"
        )

    def _fits(self, asks: Sequence[Ask]) -> bool:
        return all(self.prompt_tokens(ask) <= self.max_prompt_tokens for ask in asks)

    def _asks(self, question: Question, caps: _Caps) -> tuple[Ask, ...]:
        return tuple(self._ask(question, order, caps) for order in _ORDERS[: self.orders])

    def _ask(self, question: Question, order: Order, caps: _Caps) -> Ask:
        sheet = lay_out(self._items(question, caps), order, f"{self.prompt_sha256} {self.model}")
        messages = (Message("system", prompt(self.rubric.prompt)), Message("user", sheet.text))
        ask = Ask(
            key="",
            model=self.model,
            messages=messages,
            schema=self.rubric.schema(tuple(sheet.candidates), tuple(sheet.goldens)),
            parameters=self._parameters(len(sheet.candidates)),
            question=question,
            offered=sheet.offered,
            decoys=sheet.decoys,
            order=order,
        )
        return _keyed(ask)

    def _items(self, question: Question, caps: _Caps) -> list[Item]:
        goldens = [Item("golden", one.id, shown.golden_shown(one, caps.golden)) for one in question.goldens]
        claims = [
            Item("candidate", one.id, shown.candidate_shown(one, question.reviewer, caps.candidate))
            for one in question.candidates
        ]
        diffs = [Item("diff", path, shown.diff_shown(path, text)) for path, text in question.context.items()]
        known = decoys(goldens) if self.decoys else ()
        return [*goldens, *claims, *(diffs if caps.context else ()), *known]

    def _parameters(self, candidates: int) -> Mapping[str, Json]:
        """What is passed on. The limit is generous: it is there to stop an answer that never ends."""
        given = {name: value for name, value in self._sampling.items() if value is not None}
        return given | {"max_tokens": 4_096 + 128 * candidates}

    # --- reading

    def read(self, ask: Ask, reply: Reply) -> Reading:
        """What a reply says; never raises, whatever it holds."""
        try:
            answers = self._answers(ask, reply.text)
        except ReplyError as error:
            cut = " (it stopped at its length limit)" if reply.finish == "length" else ""
            return self._again(ask, reply, f"{error}{cut}")
        return self._verdicts(ask, answers)

    def _answers(self, ask: Ask, text: str) -> dict[str, Answer]:
        """One answer for every candidate that was offered, decoys included."""
        candidates, goldens = _sides(ask)
        found: dict[str, Answer] = {}
        for row in rows(text, self.rubric.keys):
            answer = self.rubric.read(row, candidates, goldens)
            if answer.candidate in found:
                raise ReplyError(f"there are two entries for {answer.candidate}")
            found[answer.candidate] = answer
        if missing := [name for name in candidates if name not in found]:
            raise ReplyError(f"there is no entry for {', '.join(missing)}")
        return found

    def _again(self, ask: Ask, reply: Reply, error: str) -> Ask | Unscored:
        if ask.attempt >= self.max_attempts:
            return Unscored(f"judge_reply: {_printable(error)}")
        fence = fence_of(ask.messages[1].content)
        said, _ = shown.shorten(shown.neutral(reply.text[: 2 * _QUOTED]), _QUOTED)
        parts = [prompt("again"), block(fence, "error", shown.neutral(error)), block(fence, "reply", said)]
        told = Message("user", "\n".join([*parts, closing(fence)]))
        return _keyed(replace(ask, messages=(*ask.messages[:2], told), attempt=ask.attempt + 1))

    def _verdicts(self, ask: Ask, answers: Mapping[str, Answer]) -> Verdicts:
        opaque = {ask.offered[name]: name for name in _sides(ask)[0] if name not in ask.decoys}
        judgements: list[Judgement] = []
        valid, flags = [], []
        for candidate in ask.question.candidates:
            answer = answers[opaque[candidate.id]]
            noticed = shown.candidate_shown(candidate, ask.question.reviewer).flags
            hits = {ask.offered[name] for name in answer.goldens}
            judgements += [self._judgement(candidate, golden, answer, hits, noticed) for golden in ask.question.goldens]
            if answer.valid and not hits:
                valid.append(candidate.id)
            flags += [f"{flag}: {candidate.id}" for flag in (*noticed, *answer.flags)]
        right = sum(_decoy_right(known, answers[name]) for name, known in ask.decoys.items())
        about = tuple(one.id for one in ask.question.candidates)
        return Verdicts(tuple(judgements), tuple(valid), right, len(ask.decoys) - right, tuple(flags), about)

    def _judgement(
        self, candidate: Candidate, golden: Golden, answer: Answer, hits: set[str], noticed: Sequence[str]
    ) -> Judgement:
        hit = golden.id in hits
        evidence = dict(answer.evidence or {}) | dict.fromkeys((*noticed, *answer.flags), 1.0)
        return Judgement(
            candidate.id,
            golden.id,
            Verdict.MATCH if hit else Verdict.NO_MATCH,
            self.name,
            _printable(answer.reason),
            _probability(answer, hit),
            evidence,
        )

    # --- bringing together

    def merge(self, question: Question, readings: tuple[Verdicts | Unscored, ...]) -> Verdicts | Unscored:
        """One verdict per pair from all the calls of a trial; where orders disagree, the pair is undecided."""
        asked = bool(self.rubric.without_goldens or question.goldens)
        return merge(question, readings, self.name, self.orders, asked=asked)


def _probability(answer: Answer, hit: bool) -> float | None:
    """The probability of a match. For a pair passed over in favour of another golden nothing is said."""
    if answer.confidence is None or (not hit and answer.goldens):
        return None
    return answer.confidence if hit else round(1 - answer.confidence, 6)


def _decoy_right(known: str, answer: Answer) -> bool:
    verdict, _, golden = known.partition(":")
    return golden in answer.goldens if verdict == "match" else not answer.goldens


def _sides(ask: Ask) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The opaque ids of candidates and of goldens."""
    goldens = tuple(name for name in ask.offered if name.startswith("g"))
    return tuple(name for name in ask.offered if not name.startswith("g")), goldens


def _keyed(ask: Ask) -> Ask:
    said = [[message.role, message.content] for message in ask.messages]
    key = _sha256(json.dumps([ask.model, said, ask.schema, ask.parameters, ask.attempt], sort_keys=True))
    return replace(ask, key=key)


def _unique(ids: Iterable[CandidateId] | Iterable[GoldenId]) -> None:
    listed = list(ids)
    if twice := sorted({one for one in listed if listed.count(one) > 1}):
        raise ValueError(f"ids must be unique in a trial: {', '.join(twice)}")


def _halves(items: tuple[_T, ...]) -> tuple[tuple[_T, ...], tuple[_T, ...]]:
    middle = len(items) // 2
    return items[:middle], items[middle:]


def _content(one: shown.Shown) -> list[str]:
    return [one.head, one.text]


def _printable(text: str) -> str:
    return " ".join(hostile.unhide(text)[0].split())[:400]


def _sha256(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Trust:
    """How a judge did on decoys."""

    right: int
    wrong: int
    bar: float

    @property
    def share(self) -> float | None:
        """The share answered rightly; None where there was no decoy."""
        return mean([1.0] * self.right + [0.0] * self.wrong) if self.right + self.wrong else None

    @property
    def ok(self) -> bool | None:
        """Whether the share reaches the bar; None where nothing is known."""
        return None if self.share is None else self.share >= self.bar

    def mark(self, reading: Verdicts | Unscored) -> Verdicts | Unscored:
        """A reading with the flag `untrusted_judge` where the judge is below the bar; no verdict is changed."""
        if self.ok is not False or isinstance(reading, Unscored):
            return reading
        return replace(reading, flags=(*reading.flags, f"untrusted_judge: {self.right} of {self.right + self.wrong}"))


def trusted(readings: Iterable[Verdicts | Unscored], bar: float = 0.9) -> Trust:
    """How far a judge can be trusted, by the decoys in all its calls."""
    read = [one for one in readings if isinstance(one, Verdicts)]
    return Trust(sum(one.decoys_right for one in read), sum(one.decoys_wrong for one in read), bar)
