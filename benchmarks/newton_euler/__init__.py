"""Newton's and Euler's equations of every body in the steps that a run took, by hand from what its rows say."""
