"""Elastic bodies of linear tetrahedra: stretches, materials, forces of elements, factorization, places of contact."""
