"""The model library is loaded for a call and nothing else, and reaches for nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]


def run(code: str, folder: Path) -> str:
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(_ROOT), "HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, env=env, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("module", ["scoring.judges.llm", "bot.cli", "bot.composition", "bot.judging.store"])
def test_nothing_loads_the_model_library_before_a_call(module: str, tmp_path: Path) -> None:
    run(f"import sys, {module}; assert 'litellm' not in sys.modules", tmp_path)


def test_loading_it_reads_no_env_file_and_opens_no_connection(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-from-a-file\n", encoding="ascii")
    code = """
import os, socket
def refuse(*args):
    raise SystemExit(f"it wanted to connect: {args[1:]}")
socket.socket.connect = socket.getaddrinfo = refuse
from bot.adapters.llm import LiteLlm
model = LiteLlm()
for name in ("openai/gpt-4o", "openai/gpt-oss-120b", "anthropic/claude-opus-4-5", "ollama/llama3", "replicate/llama-2",
             "cohere/command-r", "deepseek/deepseek-chat", "openai/davinci-002", "nobody/knows", "huggingface/a/b"):
    assert model.count_tokens(name, "hello <|endoftext|> world") > 2
    model.price(name, 1000, 10), model.window(name), model.missing_key(name)
assert "OPENAI_API_KEY" not in os.environ
assert "OPENAI_API_KEY" in model.missing_key("openai/gpt-4o")
assert model.price("openai/gpt-4o", 1000, 0) > 0
assert model.price("openai/honest", 1, 1) is None
assert "provider/model" in model.missing_key("x")
"""
    run(code, tmp_path)


def test_whether_a_judge_can_be_asked_is_known_without_the_library(tmp_path: Path) -> None:
    code = """
import os, sys
from bot.adapters.llm import LiteLlm
model = LiteLlm()
assert "ANTHROPIC_API_KEY" in model.missing_key("anthropic/claude-opus-4-5")
assert "GEMINI_API_KEY or GOOGLE_API_KEY" in model.missing_key("gemini/gemini-2.5-pro")
assert "provider/model" in model.missing_key("acme/model-1")
assert model.missing_key("ollama/llama3") is None
assert model.missing_key("openai/gpt-4o") is not None
os.environ["OPENAI_API_KEY"] = "x"
assert model.missing_key("openai/gpt-4o") is model.missing_key("gpt-4o") is None
assert model.price("openai/gpt-4o", 1000, 0) > 0 and model.window("openai/gpt-4o") > 100_000
assert "litellm" not in sys.modules
"""
    run(code, tmp_path)
