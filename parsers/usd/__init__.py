"""USD: stages that state physics with the schemas of UsdPhysics, Newton, MuJoCo and PhysX."""
