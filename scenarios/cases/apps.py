"""Instances as cases use them."""

from scenarios.case import App


def bounded(max_open: int, delay: str, *flags: str, max_idle: int | None = None) -> App:
    """A shared pool of so many connections, as many of them kept idle, before a database that takes `delay`."""
    idle = max_open if max_idle is None else max_idle
    return App(flags=("-stage=bounded", f"-max-open={max_open}", f"-max-idle={idle}", f"-db-delay={delay}", *flags))


def writer(batch: int, delay: str, *flags: str) -> App:
    """One writer behind a queue, which stores a batch at a time."""
    return App(flags=("-stage=channel", f"-batch-size={batch}", f"-db-delay={delay}", *flags))


def staged(stage: str, *flags: str) -> App:
    """Any other stage."""
    return App(flags=(f"-stage={stage}", *flags))


def swapping(batch: int, delay: str, *flags: str) -> App:
    """A writer that takes the whole buffer each second, or as soon as it is free, and stores a batch at a time."""
    return staged("bulk", "-swap", "-flush-interval=1s", f"-batch-size={batch}", f"-db-delay={delay}", *flags)
