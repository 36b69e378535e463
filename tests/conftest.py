"""Properties are judged by what they find and not by the clock of a busy machine.

Where `CI` is set they try the same examples each time, so that a change is judged by what it changed; elsewhere they
go on looking.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("no clock"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "no clock")
