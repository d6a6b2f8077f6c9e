"""What is admitted: each manifest judged as the cluster would, and the exceptions that an environment allows."""
