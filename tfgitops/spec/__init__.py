"""From the files of an environment to frozen values."""
