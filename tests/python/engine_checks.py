"""What the tests of engines share."""
import numpy as np

g = 9.81


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def on_body(contact, name):
    """1 where a contact's impulse acts on the body, -1 where its reaction does, else 0."""
    return (contact.second == name) - (contact.first == name)


def lift(contact, name):
    """The upward impulse on a body."""
    return contact.impulse[2] * on_body(contact, name)


def beyond(contact):
    """How far the tangential impulse is beyond 0.5 of the normal one [N s]."""
    normal = contact.impulse @ contact.normal
    return float(np.linalg.norm(contact.impulse - normal * contact.normal)) - 0.5 * normal


def floor_force(film, only=None):
    """Of the ground on all bodies or one, over the weight of all, a number a step."""
    impulses = [sum(contact.impulse[2] for contact in step
                    if contact.first == "ground" and only in (None, contact.second)) for step in film.contacts]
    return np.array(impulses) / (film.scene.weight * film.time_step)


def balance(film):
    """Largest error of a body's momentum over a step, over its weight's impulse."""
    worst = 0.0
    for before, after, step in zip(film.states, film.states[1:], film.contacts):
        for k, body in enumerate(film.scene.moving):
            given = body.mass * np.array(film.scene.gravity) * film.time_step
            for contact in step:
                given = given + contact.impulse * on_body(contact, body.name)
            change = body.mass * (after.velocity[k] - before.velocity[k])
            worst = max(worst, abs(change - given).max() / (body.mass * g * film.time_step))
    return worst
