"""Build what is published: the package, archives, copies without solutions, a release."""
