"""A project as its files tell it: languages, build files, includes and translation units. One reader a kind of file."""
