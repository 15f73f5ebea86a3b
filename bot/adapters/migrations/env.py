"""Alembic's entry: migrations run on the connection that `database.upgrade` opened."""

from alembic import context

from bot.adapters.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
