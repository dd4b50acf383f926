"""Learning-rate schedules: a list of terms, whose factors are multiplied.

    [schedule.warmup(1000), schedule.cosine(50000, start=1000)]
"""

from ._library import ScheduleTerm, library


def constant(factor):
    """`factor` at every step."""
    return library().sg_schedule_constant(factor)


def cosine(until, start=0, floor=0.0):
    """1 up to step `start`, then half a cosine down to `floor` at step `until` and after."""
    return library().sg_schedule_cosine(start, until, floor)


def warmup(steps, start=0.0):
    """A straight line from `start` at step 0 to 1 at step `steps` and after."""
    return library().sg_schedule_warmup(steps, start)


def interval(start, until, factor):
    """`factor` for start <= step < until, 1 elsewhere."""
    return library().sg_schedule_interval(start, until, factor)


def factor(terms, step):
    """The product of the terms at `step`."""
    return library().sg_schedule_factor(term_array(terms), len(terms), step)


def term_array(terms):
    """The terms as C takes them."""
    return (ScheduleTerm * len(terms))(*terms)
