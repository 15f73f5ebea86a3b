"""What kind of fault a text speaks of, by generic words: two claims about one function are often about two faults."""

from __future__ import annotations

from functools import lru_cache

from scoring.words import stem, words_of

_WORDS = {
    "style": "style readability naming rename docstring comment comments documentation documented document "
    "typo spelling misspelled whitespace formatting indentation magic constant todo wording "
    "grammar changelog javadoc readme lint convention consistency cosmetic verbose long split "
    "refactor simplify duplicate duplicated unused import imports dead 命名 注释 拼写 格式 文档 "
    "规范",
    "null": "null none nil undefined npe dereference dereferenced nullpointerexception nullable optional "
    "absent 空指针 为空",
    "bounds": "index bounds off-by-one boundary overflow underflow range slice truncated fencepost skips "
    "skipped last negative 越界 溢出",
    "race": "race concurrent concurrency thread threads atomic deadlock synchronized toctou interleave "
    "simultaneously twice parallel lock locked unlock mutex 竞争 并发 死锁 锁未",
    "leak": "leak leaks leaked release released releasing close closed closing dispose free freed unlock "
    "cleanup descriptor handle exhausted 泄漏 释放 关闭",
    "security": "injection inject sanitize escape escaped xss csrf ssrf traversal secret password plaintext "
    "timing constant-time vulnerability vulnerable unauthorized privilege spoof forged attacker "
    "malicious exploit 注入 漏洞 越权",
    "permission": "permission permissions authorize authorized authorization forbidden allowed access role admin scope",
    "logic": "inverted inverse wrong incorrect opposite condition negated reversed swapped compare "
    "comparison operator mismatch mixed confused 错误 相反",
    "error": "exception exceptions swallow swallowed swallows catch caught unhandled raise raises throw "
    "throws crash panic rollback retry 异常 崩溃",
    "performance": "performance slow quadratic n+1 cache cached memory allocation expensive latency inefficient "
    "repeated 性能 缓慢",
    "compatibility": "breaking backward backwards compatibility deprecated migration contract signature override 兼容",
    "async": "await awaited async promise asynchronous blocking blocks foreach 异步",
    "types": "type types cast coerced float integer string numeric conversion serialize deserialization "
    "parse encoding 类型",
    "time": "timezone utc dst timestamp date datetime expire expires expiry timeout ttl 时区 超时",
}
_KINDS: dict[str, frozenset[str]] = {}
for _kind, _listed in _WORDS.items():
    for _word in _listed.split():
        for _root in {stem(_word), _word}:
            _KINDS[_root] = _KINDS.get(_root, frozenset()) | {_kind}


@lru_cache(maxsize=4096)
def kinds_of(text: str) -> frozenset[str]:
    """The kinds of fault a text has words of."""
    found: set[str] = set()
    for word in words_of(text).weights:
        found |= _KINDS.get(word, frozenset())
    return frozenset(found)


def agreement(one: str, other: str) -> float:
    """1 where the kinds of two texts are the same, -1 where they have none in common, 0 where either has none."""
    first, second = kinds_of(one), kinds_of(other)
    if not first or not second:
        return 0.0
    return 2 * len(first & second) / min(len(first), len(second)) - 1


def only_style(claim: str, golden: str) -> float:
    """1 where a claim is about style and nothing else and the golden is about more."""
    return float(kinds_of(claim) == {"style"} and "style" not in kinds_of(golden))
