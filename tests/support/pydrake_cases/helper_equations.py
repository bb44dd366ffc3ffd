"""What equations.py imports: equations of expressions in a module."""


def limit(program, x):
    program.AddConstraint(x[0] + x[1] == 1)
    program.AddConstraint(x[0] == 0.25)
