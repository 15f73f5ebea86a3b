from __future__ import annotations

import pytest

from scoring.judges.vendors import same_vendor, vendor_of_model, vendor_of_reviewer


@pytest.mark.parametrize(
    ("model", "house"),
    [
        ("gpt-4o-mini", "OpenAI"),
        ("openai/o3", "OpenAI"),
        ("azure/my-gpt-5-deployment", "OpenAI"),
        ("anthropic/claude-opus-4-5", "Anthropic"),
        ("bedrock/anthropic.claude-3-sonnet", "Anthropic"),
        ("vertex_ai/claude-sonnet-4", "Anthropic"),
        ("openrouter/anthropic/claude-opus-4", "Anthropic"),
        ("vertex_ai/gemini-2.5-pro", "Google"),
        ("groq/llama3-70b-8192", "Meta"),
        ("together_ai/deepseek-ai/DeepSeek-V3", "DeepSeek"),
        ("deepseek/deepseek-chat", "DeepSeek"),
        ("dashscope/qwen-max", "Alibaba"),
        ("openai/my-own-thing", "OpenAI"),
        ("ollama/my-own-thing", None),
        ("", None),
    ],
)
def test_a_models_house_is_told_by_its_name(model: str, house: str | None) -> None:
    assert vendor_of_model(model) == house


@pytest.mark.parametrize(
    ("said", "house"),
    [("Anthropic, PBC", "Anthropic"), ("openai", "OpenAI"), ("Google LLC", "Google"), ("GitHub", "Microsoft"),
     ("Acme", None), ("", None)],
)  # fmt: skip
def test_a_vendor_is_known_by_its_name(said: str, house: str | None) -> None:
    assert vendor_of_reviewer(said) == house


def test_one_house_on_both_sides_is_warned_of_and_strangers_are_not() -> None:
    warning = same_vendor("anthropic/claude-opus-4-5", "Anthropic")
    assert warning is not None
    assert "Anthropic" in warning
    assert same_vendor("gpt-4o", "Anthropic") is None
    assert same_vendor("ollama/unknown", "Unknown") is None
    assert same_vendor("", "") is None
