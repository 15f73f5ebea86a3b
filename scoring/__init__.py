"""Pure scoring: claims and goldens in, judged, counted and explained results out. No I/O, no clock."""
