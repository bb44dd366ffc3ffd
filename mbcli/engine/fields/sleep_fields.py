"""The arrays of what sleeps in the steps of a run, declared once: contact/sleep.py says what they are for.

Sizes: ntree kinematic trees that can move, nv velocities, nbody bodies, nkept contacts of what sleeps at most.
"""

from mbcli.engine.fields.model_fields import Field

SLEEP_STEPS, SLEEP_LACKING = range(2)  # elements of sleep_counts
# values of quiet below 0: asleep; asleep, but island and contacts are not known yet; about to be asleep
ASLEEP, RECALLED, FALLING = -1, -2, -3
# bits of verdict: of a tree, and of all trees that contacts join; WOKEN is of an island that sleeps
VERDICT_TOUCHES, VERDICT_RECALLED, VERDICT_RESTED, VERDICT_RESTLESS, VERDICT_WOKEN = 1, 2, 4, 8, 16

SLEEP_FIELDS = (
    # what never changes
    Field("speed_limit", (1,), "real", "m/s", "speed below which a tree rests"),
    Field("may_sleep", ("ntree",), "int", "", "0: forces act on the tree that contact knows nothing of, else 1"),
    Field("reach", ("nv",), "real", "m or 1", "what makes a speed of a velocity: a length where it turns, else 1"),
    Field("body_tree", ("nbody",), "int", "", "tree of each body, -1 for World"),
    # what is remembered
    Field("sleep_counts", (2,), "int", "", "steps at rest after which a tree may sleep; 1 where contacts had no room"),
    Field("quiet", ("ntree",), "int", "", "steps that the tree has rested for, or ASLEEP, RECALLED, FALLING"),
    Field("v_at_start", ("nv",), "real", "m/s or rad/s", "velocities after the first of these steps"),
    Field("quiet_before", ("ntree",), "int", "", "the same before the step"),
    Field("asleep", ("nbody",), "int", "", "1 for bodies that steps leave out: those that sleep, and World"),
    Field("sleep_island", ("ntree",), "int", "", "first tree of the island of a tree that sleeps; else work"),
    Field("first_kept", ("ntree",), "int", "", "first contact of an island that sleeps, by its first tree; -1: none"),
    Field("last_kept", ("ntree",), "int", "", "the last of them"),
    Field("next_kept", ("nkept",), "int", "", "the contact of the island after this one, -1: none"),
    # work
    Field("verdict", ("ntree",), "int", "", "bits VERDICT_..."),
    Field("v_awake", ("nv",), "real", "m/s or rad/s", "velocities before a tree fell asleep"),
    Field("tau_awake", ("nv",), "real", "N or N m", "forces of the step before a tree fell asleep"),
)
