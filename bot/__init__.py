"""The GitHub App: everything that meets the outside world."""
