"""What Python asks of the kernels: stages, single answers, and many states at once."""
