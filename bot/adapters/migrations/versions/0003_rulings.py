"""What people decided where judges were wrong, undecided or of two minds. Rows are added and never changed."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "rulings",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id", name="fk_rulings_run_runs"), nullable=False),
        sa.Column("pull", sa.Text, nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("candidate", sa.Text, nullable=False),
        sa.Column("golden", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("replaced", sa.Text, nullable=False, server_default=""),
        sa.Column("undoes", sa.Integer, sa.ForeignKey("rulings.id", name="fk_rulings_undoes_rulings"), unique=True),
    )
    op.create_index("ix_rulings_run", "rulings", ["run"])
