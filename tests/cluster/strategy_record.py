"""Writes down some of what the real API server said, for the tests that run without one (tests/unit/sim/api/cases).

    SLIPWAY_STRATEGY=all SLIPWAY_STRATEGY_RECORD=tests/unit/sim/api/cases python3 tests/cluster/run.py strategy

One file for each source file of the rules; a file has the objects, and cases: an object, what is changed in it, and the
answer.  A refusal is recorded with its causes, an object only where little was changed in what was sent.
"""

from __future__ import annotations

import collections
import json
import os
import re
import zlib
from pathlib import Path

from strategy_cases import GONE
from strategy_judge import Case, Judge, normal

MOST = 12        # creations, and updates, of each kind of answer in a file
LONGEST = 3000   # characters of one answer

# Which cases are about which source file: the name of the case.
SUBJECTS: dict[str, str] = {
    "strategy": r"without a version|with another version|own system|an owner twice|^\S+ again|generated",
    "strategy_address": r"external address|name server|range |endpoint \S+$|podIPs|hostIPs|podCIDR",
    "strategy_budget": r"^pdb|^budget",
    "strategy_claim": r"^pvc|^claim|bound claim|unbound|a class that does not grow|the old annotation",
    "strategy_config": r"^(configmap|secret|serviceaccount)(-\w+)?( update|$|: (data|binary|string|type|imm|sec|image))|"
                       r"^(data|key|immutable|mutable)|another type|no type",
    "strategy_container": r"^pod-\w+: spec\.(containers|initContainers)\.\d+(\.(?!resources|securityContext)|$| )",
    "strategy_event": r"^event",
    "strategy_foreign_volume": r"^(persistent )?volume \w+|^pv-(iscsi|fc|rbd|nfs)\w*: spec\.(iscsi|fc|rbd|nfs)",
    "strategy_job": r"^job(-\w+)?( update)?: (metadata\.name|spec\.(?!pod|succ))|^job(-\w+)?$|selector|suspended|resumed|"
                    r"both numbers|one number|many completions|taken label|indexed name",
    "strategy_job_policy": r"^job\S*: spec\.(podFailurePolicy|successPolicy)|^indexes|^exit codes",
    "strategy_job_status": r"^job\S* status|^(in)?complete|^failed|^both$",
    "strategy_labels": r"metadata\.(labels|annotations)|matchLabels|matchExpressions|^annotations",
    "strategy_meta": r"metadata\.(?!labels)|two controllers|as owner|orphan|generation|being deleted|a deletion|grace",
    "strategy_misc": r"^(lease|namespace|priorityclass|endpointslice)|^a namespace|^class |^endpoint",
    "strategy_node": r"^node|taint|not ready already|another provider|the same address|ranges",
    "strategy_pod": r"^pod-\w+ update|^pod-\w+$|gate|a node label|expression|a term|affinity$|image$|toleration|deadline|"
                    r"AppArmor|mirror ann|features|on a node",
    "strategy_pod_admit": r"of class|mirror pod|account|token|with a number|with priority|pod-host: spec\.(node|prio)|"
                          r"pod-overhead",
    "strategy_pod_default": r"^image |^pod-(small|qos|host)$|pod-rich: spec\.\w+ gone",
    "strategy_pod_spec": r"^pod-\w+: spec\.(?!containers|initContainers|volumes|affinity|topology|tolerations|security)|"
                         r"deletion cost|^annotation |in two ways|users and",
    "strategy_pod_status": r"^pod-\w+ status|^ended with",
    "strategy_pv": r"^pv|recycled",
    "strategy_resources": r"\.resources|^pod-(qos|gated|overhead)|node: status\.(cap|alloc)",
    "strategy_scheduling": r"^pod-rich: spec\.(affinity|topologySpread|tolerations|nodeSelector)",
    "strategy_security": r"securityContext|^pod-windows|windows|host (process|sysctls)|unmasked|privileged",
    "strategy_service": r"^service|^(ClusterIP|NodePort|LoadBalancer|headless|ExternalName) |ports that clash",
    "strategy_stateful_set": r"^statefulset|^set ",
    "strategy_storage_class": r"^(storageclass|volumeattachment|csinode)",
    "strategy_volume": r"^pod-\w+: spec\.volumes|two volumes|ephemeral volume",
    "strategy_workload": r"^(deployment|replicaset|daemonset|controllerrevision)|^(surge|daemons) |recreate|neither|"
                         r"another template|its generation|another selector|an annotation counts|labels through|collision",
}


class File:
    def __init__(self, judge: Judge) -> None:
        self.objects: dict[str, dict] = {}
        self.cases: list[dict] = []
        self.kept: collections.Counter = collections.Counter()
        self.world = [{k: v for k, v in o.items() if k != "status"} for o in judge.world]
        for entry in self.world:
            entry["metadata"] = {k: v for k, v in entry["metadata"].items() if k != "managedFields"}

    def name_of(self, obj: dict, hint: str) -> str:
        obj = {**obj, "metadata": {k: v for k, v in obj["metadata"].items() if k != "managedFields"}}
        for name, known in self.objects.items():
            if known == obj:
                return name
        name = hint if hint not in self.objects else f"{hint} {len(self.objects)}"
        self.objects[name] = obj
        return name

    def add(self, case: Case) -> None:
        sent = case.request.get("create") or case.request["update"]
        answer = normal(case.real, sent)
        entry: dict = {"name": case.name}
        if "object" in answer:
            if case.change:
                entry["code"] = answer["code"]
            else:
                entry["object"] = answer["object"]
        else:
            details = answer["status"].get("details", {})
            entry["code"] = answer["code"]
            entry["causes" if "causes" in details else "message"] = (
                [[c["reason"], c["message"], c["field"]] for c in details.get("causes", [])] or
                answer["status"]["message"])
        kind = ("object" in answer, "update" in case.request)
        if self.kept[kind] >= MOST or len(json.dumps(entry)) > LONGEST:
            return
        base = case.base or sent
        if len(json.dumps(base)) > 20000:
            return
        self.kept[kind] += 1
        entry["of"] = self.name_of(base, case.name.split(":")[0])
        if case.change:
            entry["path"] = list(case.change.path)
            if case.change.value is not GONE:
                entry["value"] = case.change.value
        if "update" in case.request:
            entry["old"] = self.name_of(case.request["old"], "stored")
            entry["part"] = case.request["part"]
        self.cases.append(entry)

    def write(self, path: Path) -> None:
        line = lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=True)
        text = ['{"world":[', ",\n".join(map(line, self.world)), '],\n"objects":{\n']
        text.append(",\n".join(f"{line(k)}:{line(v)}" for k, v in self.objects.items()))
        text += ['\n},\n"cases":[\n', ",\n".join(map(line, self.cases)), "\n]}\n"]
        path.write_text("".join(text))


FILES: dict[str, File] = {}


def record(judge: Judge) -> None:
    """Adds what the judge's cases were answered; nothing unless it is asked for."""
    directory = os.environ.get("SLIPWAY_STRATEGY_RECORD")
    if not directory:
        return
    # odd ones first: they are few; of the many small changes others each time a name changes, no more
    ordered = sorted(judge.cases, key=lambda c: (c.change is not None, zlib.crc32(c.name.encode())))
    for subject, pattern in SUBJECTS.items():
        file = FILES.setdefault(subject, File(judge))
        for case in ordered:
            if re.search(pattern, case.name) and case.real["code"] in (200, 201, 403, 409, 422):
                file.add(case)
        Path(directory).mkdir(parents=True, exist_ok=True)
        file.write(Path(directory) / f"{subject}.json")
