"""What Kubernetes itself lays down: names, quantities, the order of keys, pods, and how parts merge."""
