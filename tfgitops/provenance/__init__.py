"""Where each field of a planned manifest comes from: the places of the spec that gave it, and what they overrode."""
