"""When a run ended, what was commanded of it, what became of its forks, and places where reading goes on."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what cleaning up and recovering deliveries need."""
    op.add_column("runs", sa.Column("ended_at", sa.Text))
    op.add_column("runs", sa.Column("orders", sa.Text, nullable=False, server_default="{}"))
    op.add_column("forks", sa.Column("retired", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "cursors",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
