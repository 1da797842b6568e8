"""The jobs of a study, one file each: what a rule of the workflow calls with `befrl job KIND --study FILE`.

A module has these functions, whose arguments are a `Study` and names such as `instance`, the wildcards of the rule:

    settings(study, ...)   the part of the study that decides the result, as a value that JSON can hold
    modules(study, ...)    the modules whose code decides the result; by default, the job's own and all that it imports
    make(study, ...)       do the work and write the files; those that play episodes also take `threads`

`settings` raises if the study has no such job. A rule carries the hash `version`; when it changes, the job runs again.
The job compares it with its own before it starts and after its work, so that code which is edited during a run, and
perhaps restored, leaves no result of the edited code.
"""

from contextlib import contextmanager

from befrl.common.errors import InputError
from befrl.common.registry import Registry
from befrl.study import provenance
from befrl.study.provenance import code_hash, short_hash

registry = Registry("job", __name__, __path__)


def version(kind: str, study, **names) -> str:
    """Hash of the part of the study, the code and the locked packages that decide the result of a job."""
    job = registry.module(kind)
    modules = job.modules(study, **names) if hasattr(job, "modules") else [job.__name__]
    return short_hash([job.settings(study, **names), code_hash(*modules)])


@contextmanager
def guarded(expected, kind: str, study, **names):
    """Raise before or after the work of a job unless code and study are those of its rule, the version `expected`."""
    if version(kind, study, **names) != expected:
        raise InputError("the code or the study has changed since the workflow started: run the workflow again")
    yield
    if files := provenance.edited():
        raise InputError(f"{files[0]}: was written while the job ran: run the workflow again")


def check_record(path, record: dict, *modules: str):
    """Raise unless a file that a job has made records the present code of these modules."""
    if record.get("code") != code_hash(*modules):
        raise InputError(f"{path}: it was made by other code than the present: delete it and run again")
