"""Studies: suites x reviewers x prompts x repeats x judges, run once, kept in one bundle, told in tables."""
