"""What is known of the systems that run what is compiled."""
