"""What the command line says of bundles: read, scored, put into tables, and drawn."""
