"""Networks of Go: their input planes, their files, and how they are evaluated."""
