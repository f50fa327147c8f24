"""What is true of the world, as data with a source and a version range each, and one typed loader per kind."""
