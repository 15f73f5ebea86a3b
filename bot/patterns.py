"""Where the rules of the App find `scoring.patterns`: bundles hold patterns too, so scoring needs the same bounds."""

from scoring.patterns import (
    FLAGS,
    HEAD,
    MOST_GROUP_REPEATS,
    MOST_PATHS,
    MOST_REPEATS,
    RUN,
    TAIL,
    UnboundedPattern,
    bounded,
    found,
    ways,
    window,
)

__all__ = [
    "FLAGS",
    "HEAD",
    "MOST_GROUP_REPEATS",
    "MOST_PATHS",
    "MOST_REPEATS",
    "RUN",
    "TAIL",
    "UnboundedPattern",
    "bounded",
    "found",
    "ways",
    "window",
]
