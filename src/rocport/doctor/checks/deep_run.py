"""What happened when torch was really run (`--deep`)."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Machine

CHECK = Check("deep-run", "work on the GPU", ("H078", "H097", "H098", "H102"), silent=True)


def run(machine: Machine) -> Iterator[Result]:
    if not machine.probed("deep"):
        yield skipped("only with --deep: it imports torch in a child process and runs small kernels")
        return
    crashed, failed = machine.symptoms("deep-crashed"), machine.symptoms("deep-failed")
    for symptom in crashed:
        yield says("deep-run.test-process-ended-early", [symptom.evidence], text=symptom.evidence.text)
    for symptom in failed:
        name = symptom.evidence.text.split(":")[0]
        yield problem(
            "fail",
            f"step {symptom.evidence.text[:200]}",
            [symptom.evidence],
            "The same call in your program fails or gives wrong numbers."
            if name != "import"
            else "torch cannot be imported.",
            ("# what it printed is explained below; in full: rocport doctor --deep --json",),
            "rocport doctor --deep",
        )
    done = [s for s in machine.facts.settings if s.name.startswith("deep_") and s.value]
    seen = machine.setting("torch_sees_gpu")
    if seen is not None and not seen.value:
        yield says("deep-run.torch-cuda-is-available-false", [seen.evidence], status="fail" if machine.gpus else "warn")
        if done[1:] and not failed:
            yield ok(f"on the CPU: {', '.join(s.name[5:] for s in done[1:])}", *(s.evidence for s in done[1:]))
    elif done and not (crashed or failed):
        yield ok(f"{len(done)} steps ran: {', '.join(s.name[5:] for s in done)}", *(s.evidence for s in done))
