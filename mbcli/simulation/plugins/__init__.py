"""Plugins of model files at work in a run.

commands     what may be asked of them, by name
moment       what their laws read and write
run_plugins  the controller of a run that lets them act
"""
