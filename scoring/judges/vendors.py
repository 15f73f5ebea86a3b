"""Who makes a model: a judge may be kinder to a reviewer that is built on it or sold by the same house."""

from __future__ import annotations

import re
from collections.abc import Mapping

_MODELS: Mapping[str, str] = {
    "claude": "Anthropic",
    "gpt": "OpenAI",
    "chatgpt": "OpenAI",
    "codex": "OpenAI",
    "o1": "OpenAI",
    "o3": "OpenAI",
    "o4": "OpenAI",
    "gemini": "Google",
    "gemma": "Google",
    "palm": "Google",
    "mistral": "Mistral",
    "mixtral": "Mistral",
    "codestral": "Mistral",
    "devstral": "Mistral",
    "magistral": "Mistral",
    "ministral": "Mistral",
    "deepseek": "DeepSeek",
    "qwen": "Alibaba",
    "qwq": "Alibaba",
    "llama": "Meta",
    "grok": "xAI",
    "command": "Cohere",
    "glm": "Zhipu",
    "kimi": "Moonshot",
    "minimax": "MiniMax",
    "nova": "Amazon",
    "titan": "Amazon",
    "phi": "Microsoft",
    "granite": "IBM",
    "nemotron": "NVIDIA",
    "jamba": "AI21",
    "sonar": "Perplexity",
    "doubao": "ByteDance",
    "seed": "ByteDance",
    "hunyuan": "Tencent",
    "ernie": "Baidu",
}
_HOUSES: Mapping[str, str] = {
    "anthropic": "Anthropic",
    "openai": "OpenAI",
    "google": "Google",
    "alphabet": "Google",
    "mistral": "Mistral",
    "deepseek": "DeepSeek",
    "alibaba": "Alibaba",
    "meta": "Meta",
    "xai": "xAI",
    "cohere": "Cohere",
    "zhipu": "Zhipu",
    "zai": "Zhipu",
    "moonshot": "Moonshot",
    "minimax": "MiniMax",
    "amazon": "Amazon",
    "aws": "Amazon",
    "microsoft": "Microsoft",
    "github": "Microsoft",
    "ibm": "IBM",
    "nvidia": "NVIDIA",
    "bytedance": "ByteDance",
    "tencent": "Tencent",
    "baidu": "Baidu",
}
_WORD = re.compile(r"[a-z]+\d?|\d+")


def vendor_of_model(model: str) -> str | None:
    """The house that made a model, by its name; None where the name does not tell.

    The last part of a name says what the model is, parts before it say who serves it: `bedrock/anthropic.claude-3` is
    Anthropic's, and so is `openrouter/anthropic/claude-opus-4`.
    """
    parts = [_WORD.findall(part.casefold()) for part in model.split("/")]
    for words in reversed(parts):
        for word in words:
            if found := _MODELS.get(word) or _MODELS.get(word.rstrip("0123456789")):
                return found
    for words in reversed(parts):
        for word in words:
            if word in _HOUSES:
                return _HOUSES[word]
    return None


def vendor_of_reviewer(said: str) -> str | None:
    """The house that a vendor's name means; None where we do not know it."""
    words = _WORD.findall(said.casefold().replace("x.ai", "xai").replace("z.ai", "zai"))
    return next((_HOUSES[word] for word in words if word in _HOUSES), None)


def models_in(judge: str) -> tuple[str, ...]:
    """The language models that a judge's name says are asked: `panel:lexical,litellm:openai/gpt-4o` names one."""
    names = (name.strip() for name in judge.removeprefix("panel:").split(","))
    return tuple(name.removeprefix("litellm:") for name in names if name.startswith("litellm:"))


def same_vendor(judge_model: str, reviewer_vendor: str) -> str | None:
    """A warning where a judge and a reviewer come from the same house; None where they do not, or nobody can tell."""
    judge, reviewer = vendor_of_model(judge_model), vendor_of_reviewer(reviewer_vendor)
    if judge is None or judge != reviewer:
        return None
    return (
        f"the judge {judge_model} and the reviewer are both from {judge}: a model may favour its own kind; "
        "have another vendor's model judge too, and compare"
    )
