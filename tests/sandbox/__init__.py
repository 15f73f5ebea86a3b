"""The sandbox GitHub, over real HTTP and real git."""
