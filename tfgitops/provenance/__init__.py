"""The origins of the fields of planned manifests: the places of the spec that give them, and those they override."""
