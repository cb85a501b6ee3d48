"""Result files on their way to runs."""
