"""The web process: the hook endpoint and what an operator's monitor asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flask import Flask, Response

from bot.web.hooks import LARGEST, Intake, hooks

Metrics = Callable[[], Mapping[str, Mapping[str, int]]]
"""Metric name -> label value -> count."""


def create_app(intake: Intake, *, ready: Callable[[], None], metrics: Metrics) -> Flask:
    """The Flask application.

    Args:
        intake: where deliveries go.
        ready: raises if the process could not take work now.
        metrics: counts for `/metrics`.
    """
    app = Flask("bot.web")
    app.config["MAX_CONTENT_LENGTH"] = LARGEST
    app.register_blueprint(hooks(intake))

    @app.get("/healthz")
    def health() -> Response:
        return Response("ok\n", mimetype="text/plain")

    @app.get("/readyz")
    def readiness() -> Response:
        try:
            ready()
        except (OSError, RuntimeError) as error:
            return Response(f"not ready: {type(error).__name__}\n", 503, mimetype="text/plain")
        return Response("ready\n", mimetype="text/plain")

    @app.get("/metrics")
    def exposition() -> Response:
        return Response("".join(_lines(metrics())), mimetype="text/plain; version=0.0.4")

    return app


def _lines(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    lines: list[str] = []
    for name, values in sorted(counts.items()):
        lines.append(f"# TYPE {name} gauge\n")
        lines += [f'{name}{{state="{label}"}} {count}\n' for label, count in sorted(values.items())]
    return lines
