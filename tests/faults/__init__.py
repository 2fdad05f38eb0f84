"""What goes wrong around the driver: crashes, lost files, other writers, every order of steps. Without a JVM, on real Delta tables."""
