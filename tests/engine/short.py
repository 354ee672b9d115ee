"""Trainings of a few steps of a small network."""

from small import make_model, make_plan

from vanishing_variance.engine.initialisation import draw


def make_short(task, norm="ln", *, model=None, **settings):
    """A plan of 12 steps, of 4 sequences a batch and width 16."""
    return make_plan(task, norm, model=make_model(width=16, **model or {}), **{"steps": 12, "batch_size": 4} | settings)


def start(plan, seeds):
    """The initial weights of seeds."""
    return draw(plan.variant.initial(plan.task_training), plan.root_seed, plan.variant.task_name, seeds)
