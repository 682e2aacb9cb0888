"""What a training step costs: launches, synchronisations, copies, time, and what takes most of it.

    python benchmarks/step_profile.py --detector sdgad --encoder tcl --sizes default --batch 256

Steps are taken inside `fit`, which also builds an index, warms up, captures graphs and calibrates. So two fits run under
torch's profiler, of two epochs and of four, after one that warms up: what the second has more than the first, divided by
the steps of two epochs, is a step at steady state, whatever the training loop looks like inside. What is done once an
epoch is in it too, spread over its steps: a validation of a few events, and the keeping of weights. Wall time is that
of the fit before, without the profiler, which slows down what it looks at. On a CPU operators are counted,
those that operators call included.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from cases import Case, Parts, add_options, cases, machine_name, make_stream
from torch.profiler import DeviceType, ProfilerActivity, profile

from sdgad.detectors.learned.detector import LearnedDetector
from sdgad.errors import InputError
from sdgad.events.stream import EventStream

SHORT, LONG = 2, 4  # epochs of the two fits
VALIDATION = 50  # events
MOST = 10  # rows of the table

LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchCooperativeKernel")
GRAPHS = ("cudaGraphLaunch",)
WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")
BLOCKING_COPIES = ("cudaMemcpy", "cudaMemcpy2D")
COPIES = ("Memcpy",)


@dataclass(frozen=True)
class Cost:
    """How often something was called, and the microseconds that it took itself."""

    calls: float = 0.0
    host: float = 0.0
    device: float = 0.0

    def less(self, other: Cost, steps: int) -> Cost:
        """The difference, per step."""
        return Cost(
            (self.calls - other.calls) / steps,
            (self.host - other.host) / steps,
            (self.device - other.device) / steps,
        )


Name = tuple[str, bool]  # as the profiler says it, and whether it ran on the GPU
Costs = dict[Name, Cost]


def costs_of_fit(case: Case, parts: Parts, epochs: int) -> tuple[Costs, LearnedDetector]:
    """All that happens in a fit, by name."""
    activities = [ProfilerActivity.CPU]
    if case.device == "cuda":
        activities.append(ProfilerActivity.CUDA)
    detector = case.make()
    gc.collect()  # millions of objects that a profile before left behind slow this one down
    with profile(activities=activities, acc_events=True) as profiler:
        detector.fit(parts.train, parts.val, epochs=epochs)
        if case.device == "cuda":
            torch.cuda.synchronize()
    costs: Costs = {}
    for event in profiler.key_averages():
        if event.is_user_annotation:  # a span over other events, whose time it would count again
            continue
        name = (event.key, event.device_type == DeviceType.CUDA)
        costs[name] = Cost(event.count, event.self_cpu_time_total, event.self_device_time_total)
    return costs, detector


def per_step(short: Costs, long: Costs, steps: int) -> Costs:
    """What the long fit has more than the short one."""
    return {name: cost.less(short.get(name, Cost()), steps) for name, cost in long.items()}


def calls(costs: Costs, chosen: Callable[[str], bool], *, on_gpu: bool = False) -> float:
    return sum(cost.calls for (name, there), cost in costs.items() if there == on_gpu and chosen(name))


def starting_with(starts: Iterable[str]) -> Callable[[str], bool]:
    return lambda name: name.startswith(tuple(starts))


def gpu_figures(costs: Costs) -> dict[str, float]:
    waits = (*WAITS, *BLOCKING_COPIES)
    return {
        "kernel launches": calls(costs, starting_with(LAUNCHES)),
        "graph launches": calls(costs, starting_with(GRAPHS)),
        "host synchronisations": calls(costs, lambda name: name in waits),
        "copies": calls(costs, starting_with(COPIES), on_gpu=True),
        "device time, ms": sum(cost.device for (_, there), cost in costs.items() if there) / 1e3,
    }


def cpu_figures(costs: Costs) -> dict[str, float]:
    return {
        "operators": calls(costs, starting_with(("aten::",))),
        "time in operators, ms": sum(cost.host for cost in costs.values()) / 1e3,
    }


def costliest(costs: Costs, time: Callable[[Cost], float], *, on_gpu: bool) -> list[str]:
    """Lines of a table, most time first."""
    held = [(name, cost) for (name, there), cost in costs.items() if there == on_gpu]
    held.sort(key=lambda each: time(each[1]), reverse=True)
    return [f"{time(cost) / 1e3:10.3f} {cost.calls:8.1f}  {name[:100]}" for name, cost in held[:MOST]]


def report(case: Case, events: EventStream, steps: int) -> str:
    """The whole answer for one case."""
    parts = Parts.cut(events, case.make(), steps, VALIDATION, VALIDATION)
    seconds = case.make().fit(parts.train, parts.val, epochs=LONG).record_.seconds
    short, _ = costs_of_fit(case, parts, SHORT)
    long, detector = costs_of_fit(case, parts, LONG)
    batches = -(-len(parts.train) // case.batch)
    costs = per_step(short, long, batches * (len(detector.record_.seconds) - SHORT))
    gpu = case.device == "cuda"
    figures = gpu_figures(costs) if gpu else cpu_figures(costs)
    figures["wall time, ms"] = min(seconds[1:]) / batches * 1e3
    return "\n".join(
        [
            f"{case.detector}, {case.encoder}, {case.sizes} sizes, L = {case.history}, batch {case.batch}, "
            f"{case.stream}, {machine_name(torch.device(case.device))}: a step of training",
            *(f"{value:10,.2f}  {name}" for name, value in figures.items()),
            f"{'ms':>10} {'calls':>8}  {'kernel' if gpu else 'operator'}",
            *costliest(costs, (lambda cost: cost.device) if gpu else (lambda cost: cost.host), on_gpu=gpu),
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_options(parser)
    parser.add_argument("--steps", type=int, default=20, help="of training, in an epoch")
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    try:
        events = make_stream(given.stream, given.events, given.msg)
        for case in cases(given):
            print(report(case, events, given.steps), flush=True)
    except InputError as problem:
        raise SystemExit(str(problem)) from None


if __name__ == "__main__":
    main()
