"""Kernels as they run: their mark, compilation and cache, and the arrays that they take."""
