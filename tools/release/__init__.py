"""What readers get: the package, an archive an edition, copies without solutions, a release."""
