"""The tables of our own record. The engine's tables live in a file of their own."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("issue_id", sa.BigInteger, nullable=False, index=True),
    sa.Column("installation", sa.BigInteger, nullable=False),
    sa.Column("control_repo", sa.Text, nullable=False),
    sa.Column("issue", sa.Integer, nullable=False),
    sa.Column("public", sa.Boolean, nullable=False),
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False, server_default=""),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("ended_at", sa.Text),
    sa.Column("orders", sa.Text, nullable=False, server_default="{}"),
    sa.Column("report", sa.Text),
    sa.Column("report_hash", sa.Text),
)

forks = sa.Table(
    "forks",
    metadata,
    sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("pull_id", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("repo", sa.Text),
    sa.Column("repo_key", sa.Text, index=True),
    sa.Column("repo_id", sa.BigInteger),
    sa.Column("pull", sa.Integer),
    sa.Column("commits", sa.Text),
    sa.Column("problem", sa.Text, nullable=False, server_default=""),
    sa.Column("opened_at", sa.Text),
    sa.Column("wake_at", sa.Text),
    sa.Column("retired", sa.Text, nullable=False, server_default=""),
)

trials = sa.Table(
    "trials",
    metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("fork", sa.Text, primary_key=True),
    sa.Column("reviewer", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("status", sa.Text),
    sa.Column("complete", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
    sa.Column("asks", sa.Text, nullable=False, server_default="[]"),
    sa.Column("settled_at", sa.Text),
    sa.Column("snapshot", sa.Integer),
    sa.ForeignKeyConstraint(["run", "fork"], ["forks.run", "forks.id"]),
)

snapshots = sa.Table(
    "snapshots",
    metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("fork", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("read_started", sa.Text, nullable=False),
    sa.Column("content_hash", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(["run", "fork"], ["forks.run", "forks.id"]),
)

writes = sa.Table(
    "writes",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("intended_at", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("identity", sa.Text),
    sa.Column("slot", sa.Float),
    sa.Column("confirmed_at", sa.Text),
    sa.Column("result", sa.Text),
    sa.Index("ix_writes_identity_slot", "identity", "slot"),
)

cursors = sa.Table(
    "cursors",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

rulings = sa.Table(
    "rulings",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), nullable=False, index=True),
    sa.Column("pull", sa.Text, nullable=False),
    sa.Column("reviewer", sa.Text, nullable=False),
    sa.Column("candidate", sa.Text, nullable=False),
    sa.Column("golden", sa.Text, nullable=False),
    sa.Column("verdict", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False, server_default=""),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("replaced", sa.Text, nullable=False, server_default=""),
    sa.Column("undoes", sa.Integer, sa.ForeignKey("rulings.id"), unique=True),
)

inbox = sa.Table(
    "inbox",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("guid", sa.Text, nullable=False, unique=True),
    sa.Column("event", sa.Text, nullable=False),
)
