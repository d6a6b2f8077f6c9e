"""What a change of the specs will do to the cluster: read what was, compare it, and say what follows."""
