"""Random robots with limits on their joints, as URDF, and states with joints exactly at them."""

import numpy as np

LIMITED = ("revolute", "prismatic")


def random_limited_urdf(seed, *, floating, damped=False, num_joints=8):
    """URDF of a tree of limited revolute and prismatic joints and a continuous one; the base is free or fixed.

    Returns the text and {joint name: (lower, upper)} of the limited joints, in the order of the file.
    """
    rng = np.random.default_rng(seed)
    links, joints, limits = [link("base", rng)], [], {}
    if not floating:
        joints.append('<joint name="weld" type="fixed"><parent link="world"/><child link="base"/></joint>')
        links.insert(0, '<link name="world"/>')
    for k in range(num_joints):
        parent = "base" if k == 0 else f"l{rng.integers(max(0, k - 3), k)}"
        kind = "continuous" if k == num_joints // 2 else str(rng.choice(LIMITED))
        axis, xyz, rpy = rng.normal(size=3), rng.normal(scale=0.2, size=3), rng.normal(size=3)
        bounds = ""
        if kind != "continuous":
            lower, upper = float(-rng.uniform(0.1, 1.0)), float(rng.uniform(0.1, 1.0))
            limits[f"j{k}"] = lower, upper
            bounds = f'<limit lower="{lower!r}" upper="{upper!r}" effort="100" velocity="100"/>'
        damping = f'<dynamics damping="{rng.uniform(0.0, 0.5):.3f}"/>' if damped else ""
        links.append(link(f"l{k}", rng))
        joints.append(
            f'<joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/><axis xyz="{numbers(axis / np.linalg.norm(axis))}"/>'
            f"{bounds}{damping}</joint>"
        )
    return f'<robot name="limited">{"".join(links + joints)}</robot>', limits


def link(name, rng):
    m, c = rng.uniform(0.5, 3.0), rng.normal(scale=0.1, size=3)
    a, b, d = m * rng.uniform(0.005, 0.02, size=3)
    return (
        f'<link name="{name}"><inertial><origin xyz="{numbers(c)}"/><mass value="{m:.17g}"/>'
        f'<inertia ixx="{a + b:.17g}" iyy="{b + d:.17g}" izz="{a + d:.17g}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def numbers(values):
    return " ".join(f"{x:.17g}" for x in values)


def state_at_limits(limits, rng, *, inside=0.2):
    """{joint: position}: at its lower limit, at its upper one, or with the share `inside` between them."""
    return {
        name: float(rng.uniform(lower, upper) if rng.random() < inside else rng.choice([lower, upper]))
        for name, (lower, upper) in limits.items()
    }
