"""What is known of models and providers without loading the library that calls them.

Loading it takes seconds and 300 MB, and the App has to say at once whether a judge can be asked at all. Its list of
models and prices is a plain file beside it.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

KEYS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("COHERE_API_KEY",),
    "dashscope": ("DASHSCOPE_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "hosted_vllm": (),
    "llamafile": (),
    "lm_studio": (),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "ollama": (),
    "ollama_chat": (),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"),
    "xai": ("XAI_API_KEY",),
}
"""Provider -> the variables that its key may be in; none where a model of one's own needs no key."""

_PRICES = "model_prices_and_context_window_backup.json"
_MORE = Path("llms") / "openai_like" / "providers.json"
_UNLISTED = frozenset({"azure_text", "custom_openai", "sagemaker_chat", "vertex_ai_beta", "watsonx_text"})
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")


class Incomplete(Exception):
    """The library's files are not where they are expected."""


@cache
def _home() -> Path:
    found = importlib.util.find_spec("litellm")
    if found is None or not found.submodule_search_locations:
        raise Incomplete("litellm is not installed; install Assay with its dependencies")
    return Path(found.submodule_search_locations[0])


@cache
def _known() -> Mapping[str, Mapping[str, Any]]:
    try:
        found: Mapping[str, Mapping[str, Any]] = json.loads((_home() / _PRICES).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Incomplete(f"the list of models cannot be read: {error}") from error
    return found


@cache
def providers() -> frozenset[str]:
    """Every provider the library can call, by the names of its list and of its parts."""
    listed = {str(facts.get("litellm_provider")) for facts in _known().values()}
    parts = {path.name for path in (_home() / "llms").glob("*") if path.is_dir() and _NAME.fullmatch(path.name)}
    more = _home() / _MORE
    others = set(json.loads(more.read_text(encoding="utf-8"))) if more.is_file() else set()
    return frozenset(listed | parts | others | set(KEYS) | _UNLISTED)


def facts_of(model: str) -> Mapping[str, Any] | None:
    """What the list says of a model; None if it is not on it."""
    known = _known()
    if model in known:
        return known[model]
    provider, _, name = model.partition("/")
    found = known.get(name)
    return found if found is not None and found.get("litellm_provider") == provider else None


def provider_of(model: str) -> str | None:
    """Who serves a model; None where its name does not say."""
    provider, slash, _ = model.partition("/")
    if slash and provider in providers():
        return provider
    facts = facts_of(model)
    return None if facts is None else str(facts.get("litellm_provider"))
