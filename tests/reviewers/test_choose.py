"""Reviewers by name: what is written wrong is said with what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.reviewers.choose import FORMS, choose, models_of
from bot.reviewers.chunked import Chunked
from bot.reviewers.command import Command
from bot.reviewers.means import ReviewMeans
from bot.reviewers.options import split
from tests.reviewers.make import MODEL, world


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("statik", "did you mean static?"),
        ("comand:x", "did you mean command:<program and arguments>?"),
        ("", "there is no reviewer"),
        ("static:x", "write static"),
        ("cold:", "write cold:<provider/model>"),
        ("command:", "write command:"),
        ("static?capp=3", "did you mean cap?"),
        ("static?cap=0", "cap must be from 1 to 1000"),
        ("static?cap=3&cap=4", "given twice"),
        ("static?lines=chanegd", "did you mean changed?"),
        ("command:no-such-program-here", "there is no program"),
        ("command:sh 'x", "not a list of arguments"),
        ("command:sh?tiem=3", "no option 'tiem'"),
        ("command:sh?output=../x", "output must be a file"),
        ("command:sh?output=head/x", "output must be a file"),
        ("command:sh?pass=A-B", "no name of an environment variable"),
        ("sarif:/no/such/log", "there is no file or folder"),
        ("chunked:statik", "did you mean static?"),
        ("chunked:static?by=line", "by cannot be 'line'"),
        ("single-shot:openai/gpt-4o-mini", "none can be asked here"),
        ("x" * 3_000, "2000 characters"),
    ],
)
def test_a_name_that_is_none_is_refused_with_the_way_out(spec: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"(?s).*") as refused:
        choose(spec, ReviewMeans())
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (f"cold:{MODEL}?prompt=D", "prompt cannot be 'D'"),
        (f"raw:{MODEL}?context=yes", "no option 'context'"),
        (f"single-shot:{MODEL}?temperature=hot", "temperature must be from 0 to 2"),
        (f"reflexion:{MODEL}?rounds=11", "rounds must be from 0 to 10"),
        ("single-shot:no-provider", "write provider/model"),
    ],
)
def test_an_option_that_a_model_reviewer_does_not_have_is_refused(tmp_path: Path, spec: str, why: str) -> None:
    with world(tmp_path, [""]) as found, pytest.raises(ValueError) as refused:
        choose(spec, found.means())
    assert why in str(refused.value)


def test_a_model_whose_key_is_missing_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(tmp_path, [""]) as found:
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        with pytest.raises(ValueError, match="ANTHROPIC_API_KEY"):
            choose("raw:anthropic/claude-opus-4-5", found.means())
        assert not found.models.seen


def test_the_last_question_mark_begins_the_options_unless_nothing_follows_it() -> None:
    kind, rest, options = split("command:sh -c 'x?a=1' http://h?q=2?")
    assert (kind, rest, dict(options.given)) == ("command", "sh -c 'x?a=1' http://h?q=2", {})
    _, rest, options = split("command:sh http://h?q=2?seconds=5&keep=no")
    assert (rest, dict(options.given)) == ("sh http://h?q=2", {"seconds": "5", "keep": "no"})
    assert split("command:tool is it? yes")[1] == "tool is it? yes"


def test_chunked_keeps_its_own_options_and_hands_on_the_others(tmp_path: Path) -> None:
    with world(tmp_path, [""]) as found:
        made = choose(f"chunked:cold:{MODEL}?by=hunk&prompt=B&most=3", found.means())
    assert isinstance(made, Chunked) and not made.by_function and made.most == 3
    assert made.inner.name == f"cold:{MODEL}?prompt=B"
    assert models_of(made.name) == {MODEL}
    assert models_of("chunked:static") == frozenset()


def test_a_command_line_is_split_as_words_and_never_given_to_a_shell() -> None:
    made = choose("command:echo 'a b' $HOME ; rm -rf * | tee x", ReviewMeans())
    assert isinstance(made, Command)
    assert made.argv[1:] == ("a b", "$HOME", ";", "rm", "-rf", "*", "|", "tee", "x")


def test_every_kind_can_be_made() -> None:
    assert set(FORMS) == {"static", "static+", "single-shot", "reflexion", "raw", "cold", "chunked", "sarif", "command"}


def test_the_record_names_each_prompt_by_the_hash_of_its_text() -> None:
    from bot.reviewers.choose import prompts_of
    from bot.reviewers.sheet import prompt_hash

    assert prompts_of("static") == prompts_of("command:x") == prompts_of("nobody") == {}
    assert dict(prompts_of("raw:openai/x?tokens=50")) == {"raw": prompt_hash("raw")}
    assert set(prompts_of("reflexion:openai/x")) == {"single-shot", "reflexion-round", "reflexion-final"}
    assert set(prompts_of("cold:openai/x")) == {"cold-a"}
    assert dict(prompts_of("chunked:cold:openai/x?by=hunk&prompt=C")) == {"cold-c": prompt_hash("cold-c")}
