"""What terms and solvers share: the data door, the state of a fit, and the forms an objective takes."""
