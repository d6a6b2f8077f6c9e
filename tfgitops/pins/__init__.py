"""Edit the `pin` of jobs in the files of a spec: the one place where the compiler changes what people wrote."""
