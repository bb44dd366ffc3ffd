"""Models as files of another format."""
