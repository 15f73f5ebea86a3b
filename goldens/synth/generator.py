"""Pull requests out of templates: which, with which defect, and whether the result is fit to measure with."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import get_args

from goldens.model import AuthoredBy, GoldenPull, Origin, SourceSignal, Suite, TreeFiles
from goldens.synth.chance import shuffled
from goldens.synth.churn import with_churn
from goldens.synth.drafts import Draft, by_addition, by_feature, changed_lines
from goldens.synth.mix import PUBLISHED, Mix, Slot, shares, slots
from goldens.synth.model import Churn, GeneratedPull, Mutation, Operator, SynthError, Template, Variant
from goldens.synth.operators import OPERATORS, equivalents
from goldens.synth.place import evidence, lines_of, mutated
from goldens.synth.syntax import read
from goldens.synth.templates import check_template, packaged
from goldens.synth.units import units, unused_imports
from goldens.synth.usable import unusable
from goldens.verify import Level, verify
from scoring.model import Golden, GoldenId, Place, PullId, SuiteRef

MOST_LINES = 40
"""Without churn, no pull request changes more lines."""
TRIES = 8
"""After so many tries a pull request passes of which `verify` has something to say that is no error."""
ROUNDS = 20
"""With churn, which is another one each time, so often every place is tried before nothing more can be made."""
ADDITIONS = 0.2
"""Share of pull requests that bring a whole function in."""


def generate(
    seed: int,
    count: int,
    *,
    clean: int = 20,
    churn: Churn = "none",
    mix: Mix = PUBLISHED,
    templates: Sequence[Template] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[GeneratedPull, ...]:
    """Make pull requests with one known defect each, and some without any.

    Args:
        seed: the same seed and arguments give the same bytes on every machine and Python version.
        count: how many with a defect.
        clean: how many without, in addition; every other one of them holds a rewrite that only looks like a defect.
        churn: how much other change surrounds the defect.
        mix: the shares of kinds and languages.
        templates: what to start from; the packaged ones if not said.
        progress: is told how many of how many are made.

    Raises:
        SynthError: what is asked for cannot be made, and why.
    """
    if count < 0 or clean < 0 or count + clean == 0:
        raise SynthError("count and clean must not be negative, and not both zero")
    if churn not in get_args(Churn):
        raise SynthError(f"no size of churn {str(churn)[:40]!r}; allowed: {', '.join(get_args(Churn))}")
    rng = Random(seed)  # nosec B311 # to be drawn again by anybody
    maker = _Maker(rng, tuple(templates if templates is not None else packaged()), churn)
    wanted: list[Slot | str] = [*slots(count, mix, maker.room)]
    wanted += [language for language, share in shares(clean, mix.languages).items() for _ in range(share)]
    made: list[GeneratedPull] = []
    for index, slot in enumerate(shuffled(maker.rng, wanted), 1):
        made.append(maker.make(index, slot))
        if progress is not None:
            progress(index, len(wanted))
    return tuple(made)


class _Maker:
    """Makes one pull request after the other and remembers what was used."""

    def __init__(self, rng: Random, templates: tuple[Template, ...], churn: Churn) -> None:
        for template in templates:
            check_template(template)
        self.rng = rng
        self._templates = templates
        self._churn: Churn = churn
        self._used: Counter[tuple[str, str, str]] = Counter()
        self._per_template: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._clean = 0
        self._sites: dict[Slot, list[tuple[Template, str]]] = {}

    def room(self, slot: Slot) -> int:
        """How many different places an operator has in the templates of a language."""
        return len(self._places(slot))

    def _places(self, slot: Slot) -> list[tuple[Template, str]]:
        if slot not in self._sites:
            operator, language = slot
            found = (
                (template, mutation.site)
                for template in self._templates
                if template.language == language
                for mutation in operator.sites(read(template.text, language))
            )
            self._sites[slot] = list(dict.fromkeys(found))
        return self._sites[slot]

    def make(self, index: int, slot: Slot | str) -> GeneratedPull:
        """The pull request for one place of the mix."""
        pulls = self._without_defect(index, slot) if isinstance(slot, str) else self._with_defect(index, slot)
        second_best: GeneratedPull | None = None
        fresh = (pull for pull in pulls if _digest(pull) not in self._seen)
        for tried, pull in enumerate(fresh, 1):
            level = _fitness(pull)
            if level is None:
                return self._take(pull)
            if level is not Level.ERROR:
                second_best = second_best or pull
            if second_best is not None and tried >= TRIES:
                break
        if second_best is not None:
            return self._take(second_best)
        what = slot if isinstance(slot, str) else f"{slot[0].id} in {slot[1]}"
        raise SynthError(
            f"no further pull request can be made for {what} after {len(self._seen)}; ask for fewer, for churn, or "
            f"give more templates"
        )

    def _take(self, pull: GeneratedPull) -> GeneratedPull:
        self._seen.add(_digest(pull))
        self._used[pull.template, pull.operator, pull.site] += 1
        self._per_template[pull.template] += 1
        self._clean += pull.variant is not Variant.DEFECT
        return pull

    # --- with a defect -------------------------------------------------------------------------------------------

    def _with_defect(self, index: int, slot: Slot) -> Iterator[GeneratedPull]:
        operator, _ = slot
        order = shuffled(self.rng, self._places(slot))
        order.sort(key=lambda place: (self._used[place[0].id, operator.id, place[1]], self._per_template[place[0].id]))
        rounds = 1 if self._churn == "none" else ROUNDS
        for template, site in order * rounds:
            for draft in self._drafts(template, site):
                grown = self._grown(template, draft)
                for mutation in self._mutations(grown, template, operator, site) if grown else ():
                    pull = _pull(index, template, grown, mutation, operator) if grown else None
                    if pull is not None:
                        yield replace(pull, churn=self._churn)

    def _drafts(self, template: Template, site: str) -> Iterator[Draft]:
        features = [by_feature(template, feature) for feature in shuffled(self.rng, template.features)]
        added = by_addition(template, site.partition(":")[0], self.rng)
        first = self.rng.random() < ADDITIONS
        if added is None:
            yield from features
        else:
            yield from (added, *features) if first else (*features, added)

    def _grown(self, template: Template, draft: Draft) -> Draft | None:
        """The draft with churn around it; None where it does not come to the size."""
        if self._churn == "none":
            return draft
        siblings = [other for other in self._templates if other.language == template.language and other != template]
        return with_churn(draft, template, self._churn, siblings, self.rng)

    def _mutations(self, draft: Draft, template: Template, operator: Operator, site: str) -> list[Mutation]:
        """The mutation of the site; with churn, where names may differ, others in its stead."""
        found = list(operator.sites(read(draft.head[template.path], template.language)))
        if draft.unit:
            found = [mutation for mutation in found if mutation.site.partition(":")[0] == draft.unit]
        same = [mutation for mutation in found if mutation.site == site]
        return same or (shuffled(self.rng, found) if self._churn != "none" else [])

    # --- without ---------------------------------------------------------------------------------------------------

    def _without_defect(self, index: int, language: str) -> Iterator[GeneratedPull]:
        templates = [template for template in self._templates if template.language == language]
        order = shuffled(self.rng, templates)
        order.sort(key=lambda template: self._per_template[template.id])
        # Where no rewrite is to be had, the pull request is plain.
        for odd in (True, False) if self._clean % 2 == 1 else (False,):
            for template in order:
                yield from self._clean_pulls(index, template, odd=odd)

    def _clean_pulls(self, index: int, template: Template, *, odd: bool) -> Iterator[GeneratedPull]:
        for draft in self._clean_drafts(template):
            grown = self._grown(template, draft)
            if grown is None:
                continue
            for rewrite in self._rewrites(grown, template) if odd else [None]:
                pull = _pull(index, template, grown, rewrite, None)
                if pull is not None:
                    yield replace(pull, churn=self._churn)

    def _clean_drafts(self, template: Template) -> list[Draft]:
        names = dict.fromkeys(unit for unit in _unit_names(template))
        added = [by_addition(template, name, self.rng) for name in names]
        features = [by_feature(template, feature) for feature in template.features]
        return shuffled(self.rng, [*features, *(draft for draft in added if draft is not None)])

    def _rewrites(self, draft: Draft, template: Template) -> list[Mutation]:
        found = equivalents(read(draft.head[template.path], template.language))
        inside = [rewrite for rewrite in found if draft.unit in ("", rewrite.site.partition(":")[0])]
        order = shuffled(self.rng, inside)
        return sorted(order, key=lambda one: self._used[template.id, "equivalent", one.site])


def _unit_names(template: Template) -> list[str]:
    return [unit.name for unit in units(read(template.text, template.language))]


def _pull(
    index: int, template: Template, draft: Draft, mutation: Mutation | None, operator: Operator | None
) -> GeneratedPull | None:
    """One pull request out of its parts; None where the mutation is none."""
    sound, base = draft.head[template.path], draft.base[template.path]
    head = mutated(sound, mutation) if mutation else sound
    if mutation and unusable(sound, head, template.language):
        return None
    # What a compiler or linter reports anyway is no test of a reviewer.
    if unused_imports(read(head, template.language)) - unused_imports(read(sound, template.language)):
        return None
    topic = template.id.partition("-")[2] or template.id
    goldens: tuple[Golden, ...] = ()
    variant = Variant.EQUIVALENT if mutation else Variant.CLEAN
    if mutation and operator:
        variant = Variant.DEFECT
        lines, snippet = evidence(head, base, lines_of(sound, mutation))
        place = Place(template.path, lines)
        name = GoldenId(f"{operator.id}-{index:03d}")
        goldens = (Golden(name, mutation.finding, operator.category, operator.severity, place, snippet),)
    return GeneratedPull(
        id=f"{topic}-{index:03d}",
        variant=variant,
        template=template.id,
        operator=operator.id if operator else "equivalent" if mutation else "",
        site=mutation.site if mutation else draft.title,
        language=template.language,
        title=draft.title,
        body=draft.body,
        base=draft.base,
        sound=draft.head,
        head={**draft.head, template.path: head},
        goldens=goldens,
    )


def _digest(pull: GeneratedPull) -> str:
    trees = [sorted(tree.items()) for tree in (pull.base, pull.head)]
    parts = [part for tree in trees for path, data in tree for part in (path.encode(), data)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _fitness(pull: GeneratedPull) -> Level | None:
    """The worst that `verify` says of a pull request; None where it has nothing to say."""
    if pull.churn == "none" and changed_lines(pull.base, pull.head) > MOST_LINES:
        return Level.ERROR
    found = verify(Suite(SuiteRef("one", "0", ""), "", "", (golden_pull(pull),), Path()))
    return min((finding.level for finding in found), key=list(Level).index, default=None)


def golden_pull(pull: GeneratedPull) -> GoldenPull:
    """The pull request as a suite holds it."""
    return GoldenPull(
        id=PullId(pull.id),
        language=pull.language,
        title=pull.title,
        body=pull.body,
        goldens=pull.goldens,
        source=(_tree(pull.base), _tree(pull.head)),
        origin=Origin.SYNTHETIC,
        source_signal=SourceSignal.MUTATION if pull.goldens else None,
        authored_by=AuthoredBy.SYNTHETIC,
        tags=tags(pull),
    )


def tags(pull: GeneratedPull) -> dict[str, str]:
    """What a pull request can be told apart by, beside its language and size."""
    kind = next((operator.kind for operator in OPERATORS if operator.id == pull.operator), None)
    said = {"variant": pull.variant.value, "churn": pull.churn, "template": pull.template}
    return said | ({"operator": pull.operator, "kind": kind.value} if kind else {})


def _tree(files: Mapping[str, bytes]) -> TreeFiles:
    return TreeFiles(dict(sorted(files.items())))
