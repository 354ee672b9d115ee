"""dask-jobqueue's jobs of SLURM, with what it leaves open: a job that SLURM refuses to take is submitted again."""

from dask_jobqueue.slurm import SLURMJob
from distributed.core import Status
from distributed.deploy.adaptive import Adaptive


class Job(SLURMJob):
    """A job that says what became of it; a cluster does not close with a job that is neither closed nor failed."""

    async def start(self) -> None:
        """Submit the job; its status is `failed` when SLURM refuses it, which raises."""
        try:
            await super().start()  # type: ignore[no-untyped-call]
        except (OSError, RuntimeError, ValueError):
            self.status = Status.failed
            raise

    async def close(self) -> None:
        """Cancel the job."""
        await super().close()  # type: ignore[no-untyped-call]
        self.status = Status.closed


class Refilling(Adaptive):
    """Keeps the number of jobs. Dask submits what it knows nothing of: a failed job is forgotten."""

    async def adapt(self) -> None:
        """Submit what is missing; a job that SLURM refuses is tried again the next time."""
        try:
            await super().adapt()
        finally:
            workers = self.cluster.workers  # type: ignore[attr-defined]
            for name in [name for name, job in workers.items() if job.status is Status.failed]:
                del workers[name]
