"""What Volcano writes, wants and refuses: the one place that knows its fields and rules."""
