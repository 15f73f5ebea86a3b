"""Language models, through litellm: the only module that knows it.

Importing litellm takes seconds and would fetch a price list and read a `.env` file, so it is imported at the first
call, told to do neither. Nothing goes over the network but the call itself, to the provider or to `api_base`. Keys
come from the provider's own variables and are never handled here.
"""

from __future__ import annotations

import logging
import os
import re
import time
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

from bot.adapters.llm_catalogue import KEYS, facts_of, provider_of
from bot.ports import ModelError
from scoring.judges.asks import Ask, Reply

TIMEOUT_SECONDS = 180.0
_LONGEST_MESSAGE = 300
_NO_SCHEMA = re.compile(r"response_format|json_schema|structured output|response schema|unsupported", re.IGNORECASE)
_KEY = re.compile(r"\b(?:sk|key|pk|rk|xai|gsk|AIza)[-_A-Za-z0-9]{12,200}", re.ASCII)
_ADDRESS = re.compile(r"_(?:API_BASE|BASE_URL|API_URL)$", re.ASCII)
_LEADS_AWAY = re.compile(r"//|[\\?#%\s]|\.\.|(?:^|/)https?:", re.IGNORECASE)
"""What makes an address of a model's name, or bends one: the library calls whatever it finds there."""


@cache
def _litellm() -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    # Its own types are not to pydantic's taste, which is of no use to whoever reads our terminal.
    warnings.filterwarnings("ignore", message="Items? .* on TypedDict class", category=UserWarning)
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.disable_hf_tokenizer_download = True
    litellm.drop_params = True
    for listeners in (litellm.callbacks, litellm.success_callback, litellm.failure_callback, litellm.input_callback):
        listeners.clear()
    for noisy in ("LiteLLM", "httpx", "openai"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
    return litellm


class LiteLlm:
    """Implements `bot.ports.Model`."""

    def __init__(self, api_base: str | None = None, timeout: float = TIMEOUT_SECONDS) -> None:
        self._api_base = api_base
        self._timeout = timeout
        self._plain: set[str] = set()
        """Models that turned out to take no schema."""

    def complete(self, ask: Ask) -> Reply:
        begun = time.monotonic()
        answer = self._answered(ask)
        return _reply(answer, ask, time.monotonic() - begun)

    def _answered(self, ask: Ask) -> Any:
        constrained = bool(ask.schema) and ask.model not in self._plain and _takes_schema(ask.model)
        try:
            return self._call(ask, constrained)
        except ModelError as error:
            if not (constrained and error.status in (400, 422) and _NO_SCHEMA.search(error.message)):
                raise
        self._plain.add(ask.model)
        return self._call(ask, constrained=False)

    def _call(self, ask: Ask, constrained: bool) -> Any:
        if _LEADS_AWAY.search(ask.model):
            raise ModelError(400, "the name of the model holds an address", retry_after=None, outcome_unknown=False)
        settings: dict[str, Any] = dict(ask.parameters)
        if constrained:
            schema = {"name": "answer", "strict": True, "schema": dict(ask.schema)}
            settings["response_format"] = {"type": "json_schema", "json_schema": schema}
        if self._api_base is not None:
            settings["api_base"] = self._api_base
        messages = [{"role": message.role, "content": message.content} for message in ask.messages]
        library = _litellm()
        try:
            return library.completion(
                model=ask.model, messages=messages, timeout=self._timeout, num_retries=0, max_retries=0, **settings
            )
        except (library.openai.OpenAIError, *library.exceptions.LITELLM_EXCEPTION_TYPES) as error:
            raise _error(error) from None

    def count_tokens(self, model: str, text: str) -> int:
        # One encoding for all: it ships with the library, while those of some models would be fetched.
        return len(_litellm().encoding.encode(text, disallowed_special=()))

    def price(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        facts = facts_of(model) or {}
        each = (facts.get("input_cost_per_token"), facts.get("output_cost_per_token"))
        if each[0] is None or each[1] is None:
            return None
        return float(each[0]) * prompt_tokens + float(each[1]) * completion_tokens

    def window(self, model: str) -> int | None:
        most = (facts_of(model) or {}).get("max_input_tokens")
        return int(most) if most else None

    def missing_key(self, model: str) -> str | None:
        if (problem := name_problem(model)) is not None:
            return problem
        provider = provider_of(model) or ""
        if provider in KEYS:
            names = KEYS[provider]
            missing = [] if not names or any(os.environ.get(name) for name in names) else [" or ".join(names)]
        else:
            missing = list(_litellm().validate_environment(model)["missing_keys"])
        wanted = [name for name in missing if not (self._api_base and _ADDRESS.search(name))]
        return f"{model} needs {' and '.join(wanted)} in the environment: its provider's key" if wanted else None


class Unasked(LiteLlm):
    """A model that is only measured: what asking it would take can be said without the key that asking needs."""

    def complete(self, ask: Ask) -> Reply:
        """Refuse: whoever only wants an estimate has agreed to no call.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(f"{ask.model} was to be asked by what only estimates")

    def missing_key(self, model: str) -> str | None:
        return name_problem(model)


def name_problem(model: str) -> str | None:
    """What is wrong with a model's name."""
    if _LEADS_AWAY.search(model):
        return f"{model!r} holds an address; write provider/model, and where it is served only the operator says"
    if provider_of(model) is None:
        return f"{model!r} names no provider; write provider/model, for example openai/gpt-4o"
    return None


def _takes_schema(model: str) -> bool:
    """Whether to constrain the answer. A model nobody has heard of is tried with a schema first."""
    facts = facts_of(model)
    return facts is None or bool(facts.get("supports_response_schema"))


def _reply(answer: Any, ask: Ask, seconds: float) -> Reply:
    choice = answer.choices[0] if answer.choices else None
    used = getattr(answer, "usage", None)
    cost = answer._hidden_params.get("response_cost")
    return Reply(
        text=(choice.message.content or "") if choice is not None else "",
        model=str(answer.model or ask.model),
        prompt_tokens=None if used is None else used.prompt_tokens,
        completion_tokens=None if used is None else used.completion_tokens,
        cost=None if cost is None else float(cost),
        seconds=seconds,
        finish="" if choice is None else str(choice.finish_reason or ""),
    )


def _error(error: Any) -> ModelError:
    """What a call's end means. The library calls a broken connection a 500 of the provider; it has no headers."""
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    status = int(getattr(error, "status_code", None) or 0)
    if status >= 500 and not headers:
        status = 0
    message = " ".join(_KEY.sub("[key]", str(error)).split())[:_LONGEST_MESSAGE]
    unknown = status in (0, 408) or status >= 500
    return ModelError(status, message, retry_after=_retry_after(headers), outcome_unknown=unknown)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait; the header holds seconds or a date."""
    given = headers.get("retry-after")
    if not given:
        return None
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,6})?", given.strip()):
        return float(given)
    try:
        until = parsedate_to_datetime(given)
    except ValueError:
        return None
    now = datetime.now(UTC)
    return max(0.0, (until - now).total_seconds()) if until.tzinfo is not None else None
