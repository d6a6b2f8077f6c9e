"""The packages in `external` have tests of their own, which run where each is installed."""

collect_ignore = ["external"]
