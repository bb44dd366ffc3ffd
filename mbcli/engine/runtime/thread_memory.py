"""Numbers by which one thread tells another one how far it is."""

import time


def publish(array, k, value):
    """array[k] = value, after all that this thread wrote before."""
    array[k] = value


def wait_until(array, k, value):
    """Waits until array[k], which another thread publishes, is at least value; what it wrote before is there then."""
    while array[k] < value:
        time.sleep(0.0)
