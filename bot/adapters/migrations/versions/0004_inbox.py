"""Deliveries that were acknowledged and not yet queued. A row leaves when the engine has it."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "inbox",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("guid", sa.Text, nullable=False, unique=True),
        sa.Column("event", sa.Text, nullable=False),
    )
