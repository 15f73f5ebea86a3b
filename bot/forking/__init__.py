"""What is done with forks outside a run: rehearsing them, and asking every reviewer once."""
