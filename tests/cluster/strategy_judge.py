"""Compares what the real API server makes of an object with what the simulated one does (probe_strategy.c).

    judge = Judge(cluster.api, program)
    judge.create("what is tried", obj)             # with dryRun=All: nothing is stored
    judge.update("what is tried", obj, old)        # old: as the server has it
    judge.report()                                 # raises AssertionError with the first differences

Left out of the comparison: uids, times, versions, managed fields, what is random or allocated.
"""

from __future__ import annotations

import copy
import http.client
import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from api import CLUSTER_SCOPED, Api, object_path
from strategy_cases import Change

CLUSTER_SCOPED.add("CSINode")
SYSTEM = ("uid", "creationTimestamp", "resourceVersion", "managedFields", "selfLink")
TIMES = {"lastTransitionTime", "lastPhaseTransitionTime"}
EMPTY = re.compile(r"(?<=\\\":)( ?)(\[\]|\{\})(?=[,}]|,?\\n)")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TOKEN = re.compile(r"kube-api-access-[a-z0-9]{5}")
WORKERS = 6
CRASHED = 0  # some objects make the real server panic


@dataclass
class Case:
    name: str
    request: dict
    base: dict | None = None      # what was changed
    change: Change | None = None
    real: dict = field(default_factory=dict)
    ours: dict = field(default_factory=dict)


def cut_times(value: object) -> object:
    if isinstance(value, dict):
        return {k: "TIME" if k in TIMES and v else cut_times(v) for k, v in value.items()}
    return [cut_times(v) for v in value] if isinstance(value, list) else value


def cut_allocated(obj: dict, sent: dict) -> None:
    """What the server chose for a Service is not compared; what the client chose is."""
    spec, wanted = obj.get("spec", {}), sent.get("spec", {})
    if obj.get("kind") != "Service":
        return
    if wanted.get("clusterIP", "") == "" and spec.get("clusterIP"):
        spec["clusterIP"], spec["clusterIPs"] = "IP", ["IP"]
    for index, port in enumerate(spec.get("ports", [])):
        if port.get("nodePort") and not wanted["ports"][index].get("nodePort"):
            port["nodePort"] = "PORT"
    if spec.get("healthCheckNodePort") and not wanted.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = "PORT"


def cut_generated(answer: dict, sent: dict) -> dict:
    """A generated name keeps its base alone."""
    base = sent["metadata"].get("generateName", "")[:58]
    if not base or sent["metadata"].get("name"):
        return answer
    return json.loads(re.sub(re.escape(base) + r"[b-df-hj-np-tv-xz2-9]{5}\b", base + "GENERATED", json.dumps(answer)))


def normal(answer: dict, sent: dict) -> dict:
    answer = cut_generated(answer, sent)
    if "object" not in answer:
        status = copy.deepcopy(answer.get("status") or {})
        if not isinstance(status, dict) or answer["code"] == 400:
            return {"code": answer["code"]}
        text = UUID.sub("UID", json.dumps(status))
        # an empty list and none are told apart by Go alone; what messages quote shows it
        return {"code": answer["code"], "status": json.loads(EMPTY.sub(r"\1null", text))}
    obj = copy.deepcopy(answer["object"])
    uid = obj["metadata"].get("uid")
    for key in SYSTEM:
        obj["metadata"].pop(key, None)
    cut_allocated(obj, sent)
    text = TOKEN.sub("kube-api-access-TOKEN", json.dumps(cut_times(obj)))
    return {"code": answer["code"], "object": json.loads(text.replace(uid, "UID") if uid else text)}


def differences(real: object, ours: object, at: str = "") -> list[str]:
    if isinstance(real, dict) and isinstance(ours, dict):
        found = []
        for key in sorted(set(real) | set(ours)):
            found += differences(real.get(key), ours.get(key), f"{at}.{key}")
        return found
    if isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        return [d for i, pair in enumerate(zip(real, ours)) for d in differences(*pair, f"{at}[{i}]")]
    return [] if real == ours else [f"{at}: server {json.dumps(real)} | ours {json.dumps(ours)}"]


class Judge:
    def __init__(self, api: Api, program: Path) -> None:
        self.api, self.program = api, program
        self.cases: list[Case] = []
        self.world: list[dict] = []

    def create(self, name: str, obj: dict) -> None:
        self.cases.append(Case(name, {"create": obj}))

    def create_changed(self, name: str, base: dict, change: Change) -> None:
        self.cases.append(Case(f"{name}: {change}", {"create": change.obj}, base, change))

    def update(self, name: str, obj: dict, old: dict, part: str = "") -> None:
        self.cases.append(Case(name, {"update": obj, "old": old, "part": part}))

    def update_changed(self, name: str, base: dict, change: Change, old: dict, part: str = "") -> None:
        self.cases.append(Case(f"{name} {part or 'update'}: {change}",
                               {"update": change.obj, "old": old, "part": part}, base, change))

    # -- the two sides ---------------------------------------------------------------------------------------------

    def ask_server(self, case: Case) -> dict:
        sent = case.request.get("create") or case.request["update"]
        if "create" in case.request:
            method, path = "POST", object_path(sent, named=False)
        else:
            named = copy.deepcopy(sent)
            named["metadata"] = {**sent["metadata"], **{k: case.request["old"]["metadata"][k]
                                                        for k in ("name", "namespace")
                                                        if k in case.request["old"]["metadata"]}}
            method, path = "PUT", object_path(named, case.request["part"])
        try:
            code, body = self.api.raw(method, f"{path}?dryRun=All", json.dumps(sent, separators=(",", ":")).encode(),
                                      "application/json")
        except http.client.RemoteDisconnected:
            return {"code": CRASHED}
        try:
            parsed = json.loads(body)
        except ValueError:
            parsed = body.decode(errors="replace")
        return {"code": code, "object" if code < 300 else "status": parsed}

    def ask_ours(self) -> None:
        lines = [json.dumps({"world": self.world})] + [json.dumps(c.request) for c in self.cases]
        done = subprocess.run([self.program], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{self.program}: status {done.returncode}\n{done.stderr[-3000:]}"
        answers = done.stdout.splitlines()[1:]
        assert len(answers) == len(self.cases), f"{len(answers)} answers to {len(self.cases)} requests"
        for case, line in zip(self.cases, answers):
            case.ours = json.loads(line)

    def compare(self, case: Case) -> list[str]:
        sent = case.request.get("create") or case.request["update"]
        if case.real["code"] == CRASHED:
            return []
        ours = normal(case.ours, sent)
        found = differences(normal(case.real, sent), ours)
        # Go's maps have no order: complaints about labels or resources may come in another one each time
        for _ in range(8):
            if not found or case.real["code"] != 422 or len(case.real["status"]["details"].get("causes", [])) < 2:
                break
            if sorted(map(json.dumps, case.real["status"]["details"]["causes"])) != sorted(
                    map(json.dumps, (ours.get("status") or {}).get("details", {}).get("causes", []))):
                break
            case.real = self.ask_server(case)
            found = differences(normal(case.real, sent), ours)
        return found

    def run_now(self) -> None:
        """Asks the server about what it was not asked about yet: before the test changes what is stored."""
        waiting = [case for case in self.cases if not case.real]
        with ThreadPoolExecutor(WORKERS) as pool:
            for case, answer in zip(waiting, pool.map(self.ask_server, waiting)):
                case.real = answer

    def run(self) -> list[tuple[Case, list[str]]]:
        """Every case in which they differ, and how."""
        self.run_now()
        self.ask_ours()
        return [(case, found) for case in self.cases if (found := self.compare(case))]

    def report(self) -> None:
        wrong = self.run()
        if wrong:
            lines = [f"{len(wrong)} of {len(self.cases)} objects are treated in another way:"]
            for case, found in wrong[:10]:
                lines += [case.name] + [f"  {line[:600]}" for line in found[:4]]
            raise AssertionError("\n".join(lines))
