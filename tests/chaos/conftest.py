"""The undisturbed run is the flows'."""

from tests.flows.conftest import reference as reference
