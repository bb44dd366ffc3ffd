"""A sound robot with two arms, the damages that people do to such files, and what `mbcli check --meshes` finds."""
