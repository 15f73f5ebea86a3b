"""A GitHub stand-in on loopback for the demo and the tests."""
