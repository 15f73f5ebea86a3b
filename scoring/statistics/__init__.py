"""Statistics for decisions: each figure a small pure function of counts by pull request.

A pull request is the unit of sampling: its goldens share an author, a change and a reviewer's attention, so they are
not independent. Every interval here resamples pull requests, through the one partition of `clusters`.
"""
