"""Forks as a run would make them, made here: names, texts, commits, proof, and what they would still give away.

Nothing is sent anywhere. With the same secret the same forks come out, and with another secret others, as between runs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot import neutral, plan
from bot.adapters.git import Authored, Git
from bot.adapters.git_bytes import GitError, GitKind
from bot.adapters.mirrors import clone_of
from bot.model import ForkPlan, RunRequest
from bot.neutral_preflight import TreeFinding
from bot.neutral_push import PushKind
from bot.neutral_reviewers import TreeNeeds
from bot.neutral_strip import StripRules
from bot.plan_leaks import leaks_of
from bot.ports import ForkCommits
from bot.registry import Reviewer
from goldens.model import GitPin, GoldenPull, Suite

RUN = "rehearsal"
_REFUSALS = (GitKind.REFUSED_TREE, GitKind.BAD_INPUT, GitKind.UNPROVEN, PushKind.FILE_TOO_LARGE)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where pinned commits are had."""

    upstreams: tuple[str, ...] = ()
    """Addresses behind which `owner/name.git` is put, in order."""
    mirror: Path | None = None
    """A folder of local clones, asked last."""

    def clones(self, pin: GitPin) -> tuple[str, ...]:
        """The address of the local clone.

        Raises:
            GitError: there is none, and nobody else is to be asked.
        """
        found = clone_of(self.mirror, pin.upstream) if self.mirror else None
        if found is None and not self.upstreams:
            told = f"no clone of {pin.upstream} is in {self.mirror}; expected at {pin.upstream} or {pin.upstream}.git"
            raise GitError(GitKind.MISSING_COMMIT, told)
        return (found.resolve().as_uri(),) if found else ()


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """One fork, as far as it went."""

    plan: ForkPlan
    author: neutral.Identity
    leaks: tuple[str, ...]
    commits: ForkCommits | None = None
    problem: str = ""
    """Why there are no commits."""
    refused: bool = False
    """Whether that is the pull request's fault, and not that of a network or a missing commit."""
    findings: tuple[TreeFinding, ...] = ()

    @property
    def status(self) -> str:
        """`ready`, `refused`, `leaks`, or `failed` if it could not be tried."""
        if self.commits is None:
            return "refused" if self.refused else "failed"
        return "leaks" if self.leaks else "ready"

    def record(self) -> dict[str, Any]:
        """Everything, for machines."""
        made, who = self.commits, self.author
        found = {
            "pull": self.plan.pull,
            "status": self.status,
            "problem": self.problem,
            "repository_names": list(self.plan.names),
            "base_branch": self.plan.base_branch,
            "head_branch": self.plan.head_branch,
            "title": self.plan.title,
            "body": self.plan.body,
            "author": {"name": who.name, "email": who.email},
            "dates": [who.base_date.isoformat(), who.head_date.isoformat()],
            "messages": list(neutral.messages(self.plan.title)),
            "reviewers": list(self.plan.reviewers),
            "leaks": list(self.leaks),
            "findings": [_finding(one) for one in self.findings],
        }
        return found if made is None else found | _proof(made)


def _finding(one: TreeFinding) -> dict[str, str]:
    return {"kind": one.kind.value, "verdict": one.verdict.value, "path": one.path, "detail": one.detail}


def _proof(made: ForkCommits) -> dict[str, Any]:
    return {
        "commits": {"base": made.base_sha, "head": made.head_sha},
        "trees": {"base": made.base_tree, "head": made.head_tree},
        "patch_id": made.patch_id,
        "base_is": made.base_is,
        "stripped": list(made.stripped),
        "kept": list(made.kept),
        "injected": list(made.injected),
        "notes": list(made.notes),
        "residual": dict(made.residual),
    }


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What all forks of one rehearsal have in common."""

    suite: Suite
    reviewers: tuple[Reviewer, ...]
    secret: bytes
    sources: Sources
    rules: StripRules
    needs: TreeNeeds
    granted: bool
    """Whether workflows of reviewers may be put in."""
    git: Git

    def plans(self, pulls: Sequence[str] | None) -> tuple[ForkPlan, ...]:
        """The forks of these pull requests, or of all.

        Raises:
            ValueError: the suite has no such pull request.
        """
        wanted = None if pulls is None else tuple(pull.id for pull in self.suite.pulls if pull.id in pulls)
        ids = tuple(reviewer.id for reviewer in self.reviewers)
        request = RunRequest(self.suite.ref.id, ids, "lexical", pulls=wanted)  # type: ignore[arg-type]
        return plan.fork_plans(request, self.suite, self.reviewers, secret=self.secret, names=neutral)

    def run(
        self, plans: Sequence[ForkPlan], done_of: Callable[[int, int], None], output: Path | None
    ) -> Iterator[Rehearsed]:
        """Make each fork, one after another; keep it under `output` if given. Tells how many of all are made."""
        pulls: Mapping[str, GoldenPull] = {pull.id: pull for pull in self.suite.pulls}
        for number, fork in enumerate(plans, start=1):
            with tempfile.TemporaryDirectory(prefix="rehearsal-") as folder:
                done = self._one(fork, pulls[fork.pull], Path(folder))
                if output is not None and done.commits is not None and not done.leaks:
                    self._keep(fork, done.commits, Path(folder), output)
            done_of(number, len(plans))
            yield done

    def _one(self, fork: ForkPlan, pull: GoldenPull, workdir: Path) -> Rehearsed:
        upstream = pull.source.upstream if isinstance(pull.source, GitPin) else None
        derived = (self.suite.ref.id, *fork.reviewers)
        done = Rehearsed(
            fork, neutral.identity(self.secret, fork.id), leaks_of(fork, upstream, RUN, derived, self.secret)
        )
        try:
            made = self._commits(fork, pull, workdir)
        except GitError as error:
            return replace(done, problem=str(error), refused=error.kind in _REFUSALS, findings=error.findings)
        return replace(done, commits=made, findings=made.findings)

    def _commits(self, fork: ForkPlan, pull: GoldenPull, workdir: Path) -> ForkCommits:
        files = {path: content.encode() for path, content in self.needs.workflows.items()}
        who, said = neutral.identity(self.secret, fork.id), neutral.messages(fork.title)
        authored = Authored(self.needs.rules(self.rules), who, said, files)
        if isinstance(pull.source, GitPin):
            clones = self.sources.clones(pull.source)
            return self.git.trees_from_pin(workdir, pull.source, self.sources.upstreams, authored, clones)
        base, head = pull.source
        return self.git.trees_from_files(workdir, base.files, head.files, authored)

    def _keep(self, fork: ForkPlan, made: ForkCommits, workdir: Path, output: Path) -> None:
        """Push the two branches, as to GitHub, into a new bare repository of the fork's first name."""
        target = output / f"{fork.names[0]}.git"
        self.git.bare(target)
        refs = {fork.base_branch: made.base_sha, fork.head_branch: made.head_sha}
        replace(self.git, allow_file=True).push(workdir, target.resolve().as_uri(), None, refs)
