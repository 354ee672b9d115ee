"""The only room that touches the disk: a file a format, so that a new format reruns no stage that does not use it."""
