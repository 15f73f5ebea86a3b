"""Where in the head a mutation shows, and the snippet that proves it."""

from __future__ import annotations

from goldens.synth.model import Mutation
from goldens.synth.syntax import apply
from goldens.trees import split_lines

REACH = 8
"""So many lines around a gap are looked at for a snippet that the base does not have."""


def mutated(data: bytes, mutation: Mutation) -> bytes:
    """The file with a mutation made."""
    return apply(data, mutation.edits)


def lines_of(sound: bytes, mutation: Mutation) -> tuple[int, int]:
    """First and last line of the mutated file that show the mutation; around a gap, the lines on both sides."""
    focus = mutation.edits[mutation.focus]
    shift = sum(len(edit.text) - (edit.end - edit.start) for edit in mutation.edits if edit.end <= focus.start)
    start = focus.start + shift
    head = mutated(sound, mutation)
    first = head.count(b"\n", 0, start) + 1
    if not focus.text.strip():
        whole_lines = focus.start == 0 or sound[focus.start - 1 : focus.start] == b"\n"
        last = min(first, len(split_lines(head)))
        return (max(1, last - 1), last) if whole_lines else (first, first)
    if mutation.head_line:
        return first, first
    return first, first + focus.text.strip(b"\n").count(b"\n")


def evidence(head: bytes, base: bytes, lines: tuple[int, int]) -> tuple[tuple[int, int], str]:
    """The lines, widened as far as needed, and what stands there and nowhere in the base; empty if nothing does."""
    here, there = _stripped(head), "\n".join(_stripped(base))
    first, last = lines
    for number in range(first, last + 1):
        if here[number - 1] and here[number - 1] not in there:
            return lines, here[number - 1]
    for step in range(REACH):
        low, high = max(1, first - (step + 1) // 2), min(len(here), last + step // 2)
        snippet = "\n".join(here[low - 1 : high])
        if snippet.strip() and snippet not in there:
            return (low, high), snippet
    return lines, ""


def _stripped(data: bytes) -> list[str]:
    return [line.strip() for line in split_lines(data)]
