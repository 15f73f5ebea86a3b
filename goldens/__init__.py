"""The truth: what suites are, and how they are read, checked and made."""
