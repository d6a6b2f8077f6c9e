"""The compiler at one glance, one call of it, and its output."""
