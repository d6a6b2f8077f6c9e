"""What TensorFlow wants of a cluster, and how its programs find each other."""
