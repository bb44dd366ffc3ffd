"""What a step leaves out because it sleeps: nothing, but in runs with sleeping islands (contact/sleep.py)."""

from mbcli.engine.runtime.kernel import slot


@slot(sleep="contact.sleep.body_sleeps")
def is_asleep(data, b):
    """Whether body b sleeps: its poses, velocities and inertias are in the data, and it has no acceleration."""
    return False
