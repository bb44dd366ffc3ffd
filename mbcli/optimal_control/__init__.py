"""Optimal control: inputs of a model over time that cost least, the feedback about them, and the same in the loop.

    from mbcli.optimal_control import PlanFeedback, PredictiveControl, optimize

    plan = optimize("swing.control.yaml", log="plan.h5")
    log = simulate("cart_pole.sdf", 3.0, dt=0.005, controller=PlanFeedback("plan.h5"))

control_file      what is wanted: a YAML file, its terms looked up in a model
cost_terms        the terms of costs by name
costs             the costs of motions, and their derivatives
plant_steps       the steps of a plant, many at once, and their derivatives
box_newton        least values of quadratic functions within bounds
dynamic_programming  the optimization: iterated linear quadratic problems with bounds
optimizing        optimize(): a file in, a plan out, simulated again
plan              Plan: what was found, with its log
feedback          controllers of runs: the gains of a plan, and plans in the loop
"""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.optimal_control.feedback import PlanFeedback as PlanFeedback, PredictiveControl as PredictiveControl
    from mbcli.optimal_control.optimizing import optimize as optimize
    from mbcli.optimal_control.plan import Plan as Plan
