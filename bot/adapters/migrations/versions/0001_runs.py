"""Runs, forks, trials, snapshots and the ledger of writes."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the first tables."""
    _runs()
    _forks()
    _trials()
    _snapshots()
    _writes()


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("issue_id", sa.BigInteger, nullable=False),
        sa.Column("installation", sa.BigInteger, nullable=False),
        sa.Column("control_repo", sa.Text, nullable=False),
        sa.Column("issue", sa.Integer, nullable=False),
        sa.Column("public", sa.Boolean, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("report", sa.Text),
        sa.Column("report_hash", sa.Text),
    )
    op.create_index("ix_runs_issue_id", "runs", ["issue_id"])


def _forks() -> None:
    op.create_table(
        "forks",
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("pull_id", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("repo", sa.Text),
        sa.Column("repo_key", sa.Text),
        sa.Column("repo_id", sa.BigInteger),
        sa.Column("pull", sa.Integer),
        sa.Column("commits", sa.Text),
        sa.Column("problem", sa.Text, nullable=False, server_default=""),
        sa.Column("opened_at", sa.Text),
        sa.Column("wake_at", sa.Text),
    )
    op.create_index("ix_forks_repo_key", "forks", ["repo_key"])


def _trials() -> None:
    op.create_table(
        "trials",
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


def _snapshots() -> None:
    op.create_table(
        "snapshots",
        sa.Column("run", sa.Text, primary_key=True),
        sa.Column("fork", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("read_started", sa.Text, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["run", "fork"], ["forks.run", "forks.id"]),
    )


def _writes() -> None:
    op.create_table(
        "writes",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("intended_at", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("identity", sa.Text),
        sa.Column("slot", sa.Float),
        sa.Column("confirmed_at", sa.Text),
        sa.Column("result", sa.Text),
    )
    op.create_index("ix_writes_identity_slot", "writes", ["identity", "slot"])
