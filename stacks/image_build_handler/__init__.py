"""The code of the function that waits for image builds: a folder of its own, because it runs in Lambda."""
