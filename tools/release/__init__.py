"""What readers get: the package as wheel and source, an archive an edition, copies for students, a release."""
