"""Counts over folders of robot files as their makers left them: what is read here, what a peer reads, and why not."""
