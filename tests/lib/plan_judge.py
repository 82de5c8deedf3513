"""Whether a plan came true: a cluster of plan_clusters.py is planned, really drained, and what happened is compared with what was said.

What must agree: which nodes are drained; which pods are gone and which were left where they were; how many pods of each owner stay
Pending; and for what reasons of the scheduler on how many nodes, to the letter.

The judge does not care where the cluster is: a World has pods(), items(path), delete(path, body), slipway(*words) and paces.
"""

from __future__ import annotations

import collections
import json
import re
import tempfile
import time
from pathlib import Path
from typing import Callable, Protocol

from plan_clusters import HOLD, LIMIT, Made

EXPLAINED = ("swapped", "rivals", "order", "elsewhere", "preempted")  # see Trial
MOST = 0.15  # of the pods that are judged: when more than these need an explanation, something is wrong
NOT_DRAINED = ("never", "unsure")
GOES = ("goes", "waits", "homeless")
FITS = "it fits"


class World(Protocol):
    patience: float  # seconds after which something hangs
    stuck: float  # seconds that a drain gets which the plan says does not get through; then it is killed
    longer: float  # the same when pods are there that take their time to go
    enough: float  # and one that does

    def items(self, path: str) -> list[dict]: ...
    def call(self, method: str, path: str, body: object = None) -> object: ...
    def slipway(self, *words: str, seconds: float | None = None): ...  # killed then, and what it has said is returned
    def grow_old(self, seconds: float) -> None: ...
    def prepare(self, pods: list[dict]) -> None: ...  # when all are where they belong
    def explain(self, pod: dict) -> str | None: ...  # src/engine/fit about the cluster as it is, or FITS; None: cannot be asked


# -- pods -----------------------------------------------------------------------------------------------------------


def app_of(pod: dict) -> str:
    return pod["metadata"].get("labels", {}).get("app", "")


def owner_of(pod: dict) -> str:
    owners = [o for o in pod["metadata"].get("ownerReferences", []) if o.get("controller")]
    return f"{owners[0]['kind']}/{owners[0]['name']}" if owners else ""


def path_of(pod: dict) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def waits_for_room(pod: dict) -> str | None:
    """The scheduler's message about it, or None."""
    if pod["spec"].get("nodeName"):
        return None
    for c in pod.get("status", {}).get("conditions", []):
        if c["type"] == "PodScheduled" and c["status"] == "False" and c.get("reason") == "Unschedulable":
            return c.get("message", "")
    return None


def cpu_of(spec: dict) -> int:
    """In thousandths."""
    asked = [c.get("resources", {}).get("requests", {}).get("cpu", "0") for c in spec["containers"]]
    return sum(int(q[:-1]) if q.endswith("m") else 1000 * int(q) for q in asked)


def is_ready(pod: dict) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod.get("status", {}).get("conditions", []))


def is_leaving(pod: dict) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def describe(pod: dict) -> str:
    words = ["ready" if is_ready(pod) else pod["status"].get("phase", ""), "leaving" if is_leaving(pod) else "", waits_for_room(pod) or ""]
    return " ".join([pod["metadata"]["name"], "on", pod["spec"].get("nodeName", "no node"), *filter(None, words)])


def lasting(message: str) -> dict[str, int] | None:
    """What a scheduler's message says of nodes alone, wherever pods are: the scheduler asks for these things first, so that nothing that pods do
    can hide them.  Of "0/5 nodes are available: 2 node(s) were unschedulable, ...": 5 nodes, 2 of them unschedulable."""
    found = re.match(r"0/(\d+) nodes are available: (.*?)\.(?: |$)", message)
    if not found:
        return None
    counts = {"nodes": int(found[1])}
    for number, words in re.findall(r"(\d+) (node\(s\) [^,]*)", found[2]):
        if any(known in words for known in ("were unschedulable", "had untolerated taint", "didn't match Pod's node affinity/selector")):
            counts[words.rstrip(".")] = int(number)
    return counts


def summary(seen: collections.Counter) -> str:
    return ", ".join(f"{what}: {seen[what]}" for what in sorted(seen))


def too_many(seen: collections.Counter) -> bool:
    """Differences that were explained, in all trials together."""
    judged = sum(seen[verdict] for verdict in (*GOES, *NOT_DRAINED))
    return sum(seen[name] for name in EXPLAINED) > max(MOST * judged, 6)


def is_homeless(planned: dict) -> bool:
    """Whether its replacement is said to be Pending.  Of one that is not made because it has its turn after another, that is said instead."""
    return planned["verdict"] == "homeless" and planned["blocker"]["code"] != "NotRescheduled"


class Trial:
    """faults: what did not come true.  And what was compared, and how often which of the things was that explain a difference:

    messages      pods without room whose message was compared; placed, foreseen: replacements, and those that are where the plan said
    asked_again   the message of a Pending pod was out of date, and the pod was made anew
    swapped       a sibling went, where one budget lets one go at a time
    elsewhere     a replacement took another of several good nodes, and so other nodes are full
    rivals        another pod that left at the same time got the last place
    order         pods that must be apart or spread left at the same time, and it matters who was first
    preempted     the scheduler evicts less important pods for one that is said to go, without a place: what others find then is not foreseen
    """

    def __init__(self, world: World, made: Made) -> None:
        self.world, self.made = world, made
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.messages = self.asked_again = self.placed = self.foreseen = self.swapped = self.rivals = self.order = self.preempted = self.elsewhere = 0
        self.verdicts: collections.Counter = collections.Counter()
        self.said = ""
        self.story: list[str] = []  # for whoever reads of a fault
        self.unrest = ""

    def counts(self) -> collections.Counter:
        names = ("messages", "asked_again", "placed", "foreseen", *EXPLAINED)
        return self.verdicts + collections.Counter({name: getattr(self, name) for name in names})

    def fault(self, what: str) -> None:
        self.faults.append(what)

    def pods(self) -> list[dict]:
        return self.world.items("/api/v1/pods")

    def wait(self, check: Callable[[], object], what: str):
        deadline = time.monotonic() + self.world.patience
        while not (value := check()):
            if time.monotonic() > deadline:
                raise AssertionError(f"seed {self.made.seed}: {what} never came: {self.unrest}; {self.picture()}")
            time.sleep(0.05)
        return value

    def picture(self) -> str:
        return "; ".join(describe(p) for p in self.pods())

    # -- rest ---------------------------------------------------------------------------------------------------------

    def at_rest(self, before: bool, leaving: bool = False) -> list[dict] | None:
        """The pods, when nothing is going on any more: every one is there that should be, and is on a node, or the scheduler has said
        why not.  before: those on nodes are ready as well, and budgets know it.  leaving: some may be on their way out."""
        pods = self.pods()
        there: dict[str, list[dict]] = collections.defaultdict(list)
        self.unrest = ""
        for p in pods:
            if is_leaving(p):
                if not leaving and app_of(p) not in self.made.held:
                    self.unrest = f"{p['metadata']['name']} is leaving"
                continue
            there[app_of(p)].append(p)
            if not p["spec"].get("nodeName"):
                if waits_for_room(p) is None:
                    self.unrest = f"nobody has said where {p['metadata']['name']} goes"
            elif before and not is_ready(p) and app_of(p) not in self.made.never:
                self.unrest = f"{p['metadata']['name']} is not ready"
        for app, count in self.made.wanted.items():
            if not self.complete(app, count, there[app], before, leaving):
                self.unrest = f"{len(there[app])} pods of {app}, not {count}"
        if before and not self.unrest:
            self.unrest = self.budgets_lag(pods)
        for p in pods:
            if not self.unrest and not is_leaving(p) and waits_for_room(p) is not None and self.passes(p):
                self.unrest = f"{p['metadata']['name']} still may find room: {waits_for_room(p)}"
        return None if self.unrest else pods

    def passes(self, pod: dict) -> bool:
        """What the scheduler says is out of date: it waits for a controller, or for its next try."""
        words = waits_for_room(pod)
        if "unbound immediate" in words or "ephemeral volume controller" in words or pod["status"].get("nominatedNodeName"):
            return True
        return self.world.explain(pod) == FITS

    def complete(self, app: str, count: int, pods: list[dict], before: bool, leaving: bool) -> bool:
        if app == "bare" and not before:
            return True
        if app == "doomed" and (not before or leaving):
            return True
        if app in self.made.ordered and len(pods) < count:  # the next one comes when this one is ready
            return any(waits_for_room(p) is not None for p in pods)
        return len(pods) == count

    def budgets_lag(self, pods: list[dict]) -> str:
        """The budget that does not know the pods."""
        budgets = self.world.items("/apis/policy/v1/poddisruptionbudgets")
        apps = collections.Counter(b["spec"]["selector"]["matchLabels"]["app"] for b in budgets)
        for budget in budgets:
            status, app = budget.get("status", {}), budget["spec"]["selector"]["matchLabels"]["app"]
            if apps[app] > 1:
                continue  # its controller looks at one of them only when a pod changes
            if any(c["type"] == "DisruptionAllowed" and c["reason"] == "SyncFailed" for c in status.get("conditions", [])):
                continue  # its controller cannot tell how many there should be
            if status.get("observedGeneration") != budget["metadata"].get("generation"):
                return f"nobody has looked at the budget {budget['metadata']['name']}"
            healthy = sum(app_of(p) == app and is_ready(p) and not is_leaving(p) for p in pods)
            if status.get("currentHealthy", 0) != healthy:
                return f"the budget {budget['metadata']['name']} knows of {status.get('currentHealthy', 0)} pods that are ready, not {healthy}"
        return ""

    # -- the trial ------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """What is under way when the plan is made."""
        pods = self.wait(lambda: self.at_rest(before=True), "the beginning")
        self.world.prepare(pods)
        going = self.made.leaving + self.made.held
        for app in going:
            victims = [p for p in pods if app_of(p) == app and p["spec"].get("nodeName") in self.made.target]
            for p in victims[:1]:
                if app in self.made.held:
                    self.world.call("PATCH", path_of(p), {"metadata": {"finalizers": [HOLD]}})
                self.world.call("DELETE", path_of(p))
        if self.made.doomed:
            self.world.call("DELETE", f"/api/v1/namespaces/{self.made.doomed}")
            self.wait(lambda: all(is_leaving(p) for p in self.pods() if app_of(p) == "doomed"), "the end of the namespace's pods")
        if self.made.held:
            self.world.grow_old(90)
        if going or self.made.doomed:
            self.wait(lambda: self.at_rest(before=True, leaving=True), "the beginning, with pods that leave")

    def run(self) -> "Trial":
        self.begin()
        before = self.pods()
        with tempfile.TemporaryDirectory() as d:
            path = Path(d) / "plan.json"
            done = self.world.slipway("plan", "drain", *self.made.target, *self.made.flags, "--out", str(path))
            if done.code:
                self.fault(f"no plan: {done}")
                return self
            self.plan = json.loads(path.read_text())
            self.carry_out(before, path)
        return self

    def carry_out(self, before: list[dict], path: Path) -> None:
        """By a drain with the same words; where the order matters, by what runs the plan itself."""
        hopeless = any(n["verdict"] in NOT_DRAINED for n in self.plan["nodes"])
        slow = self.made.leaving or self.made.doomed
        seconds = self.world.enough if not hopeless else self.world.longer if slow else self.world.stuck
        words = ["apply", str(path)] if LIMIT in self.made.flags else ["drain", *self.made.target, *self.made.flags]
        done = self.world.slipway(*words, seconds=seconds)
        self.said = done.err
        drained = set(re.findall(r"^node/(\S+) drained$", done.out, re.M))
        after = self.wait(lambda: self.at_rest(before=False), "an end of what goes on")
        self.story = [f"planned: {p['name']} on {n['name']} {p['verdict']}, to {p.get('to')}, {p.get('blocker', {}).get('message', '')}"
                      for n in self.plan["nodes"] for p in n["pods"]]
        self.story += [f"{when}: {describe(p)}" for when, pods in (("before", before), ("after", after)) for p in pods]
        excused = self.compare_pods(before, after)
        self.compare_nodes(drained, excused, after)

    def compare_nodes(self, drained: set[str], excused: set[str], after: list[dict]) -> None:
        """excused: pods of which a sibling had the fate that was said of them."""
        left = {p["metadata"]["uid"] for p in after}
        came = {p["spec"].get("nodeName") for p in after if p["metadata"]["uid"] not in self.old and not owner_of(p).startswith("DaemonSet/")}
        bound_for = {p.get("to") for n in self.plan["nodes"] for p in n["pods"]}
        for n in self.plan["nodes"]:
            self.verdicts[f"node {n['verdict']}"] += 1
            name, is_drained = n["name"], n["name"] in drained
            stuck = [p["name"] for p in n["pods"] if p["verdict"] in NOT_DRAINED and p["uid"] not in excused]
            here = [p["name"] for p in n["pods"] if p["verdict"] != "stays" and p["uid"] in left]
            if is_drained and stuck:
                self.fault(f"node {name} is drained, and the plan says that {stuck} do not go")
            elif is_drained and here:
                self.fault(f"node {name} is drained, and {here} are still there")
            elif (n["verdict"] not in NOT_DRAINED) == is_drained:
                continue
            elif any(p["uid"] in excused for p in n["pods"]) and is_drained == (not here and name not in came):
                continue  # as its pods have fared
            elif (is_drained and name in bound_for) or (not is_drained and not here and name in came):
                self.elsewhere += 1  # a replacement that was to come and get stuck there did not, or the other way round
            else:
                self.fault(f"node {name}: the plan says {n['verdict']}, it is {'' if is_drained else 'not '}drained")

    def compare_pods(self, before: list[dict], after: list[dict]) -> set[str]:
        """Returns the pods of which a sibling had the fate that was said of them."""
        said = {p["uid"]: p for n in self.plan["nodes"] for p in n["pods"]}
        left = {p["metadata"]["uid"] for p in after}
        wrong: list[str] = []
        bold = self.is_bold(before, said)
        leaving = {p["metadata"]["uid"] for p in before if is_leaving(p)}
        moved: set[str] = set()
        for uid, p in said.items():
            self.verdicts[p["verdict"]] += 1
            if p["verdict"] == "never" and p["blocker"]["code"] == "PinnedToNode" and uid not in left:
                # Evicted all the same, and there again: whoever makes it anew puts it there.
                if not any(owner_of(q) == p["owner"] and q["spec"].get("nodeName") in self.made.target for q in after):
                    self.fault(f"pod {p['name']}: the plan says that it is pinned, and it has not come back")
            elif p["verdict"] == "unsure" and uid in leaving:
                pass  # it was on its way out, and nobody can tell when it is gone
            elif (p["verdict"] in GOES) == (uid in left):
                wrong.append(uid)
        swapped = self.swaps(said, wrong, left)
        dry = self.dry_budgets()
        for uid in set(wrong) - swapped:
            waits = uid in left and app_of(next(p for p in before if p["metadata"]["uid"] == uid)) in dry
            owner = said[uid].get("owner", "")
            # A replacement of a sibling came to its node, was first, and has used the budget up.
            if waits and self.was_first(owner, said, after):
                self.swapped += 1
                moved.add(uid)
                continue
            # A sibling has lost its place to another pod, and so does not give the budget back.
            if waits and self.is_rivalry(owner, 1, collections.Counter({owner: 0}), before, after, said):
                self.rivals += 1
                moved.add(uid)
                continue
            # Or has won one, and gives it back.
            if uid not in left and said[uid]["blocker"]["code"] == "PDBNoBudget" and self.is_rivalry(
                    owner, 0, collections.Counter({owner: 1}), before, after, said):
                self.rivals += 1
                moved.add(uid)
                continue
            priority = next(p["spec"].get("priority", 0) for p in before if p["metadata"]["uid"] == uid)
            if bold is not None and (priority < bold if uid not in left else said[uid].get("blocker", {}).get("code") == "PDBNoBudget"):
                self.preempted += 1  # it was pushed aside, or has got a budget that others would have kept
                continue
            self.fault(f"pod {said[uid]['name']}: the plan says {said[uid]['verdict']}, it is {'left' if uid in left else 'gone'}")
        # A StatefulSet's pods have their names again, a ReplicaSet's others: compared by owner.
        waiting = collections.Counter(owner_of(p) for p in after if waits_for_room(p) is not None)
        waiting.subtract(collections.Counter(owner_of(p) for p in before if waits_for_room(p) is not None))
        homeless = collections.Counter(p.get("owner", "") for p in said.values() if is_homeless(p))
        unmade = collections.Counter(p["owner"] for p in said.values() if p["verdict"] == "homeless" and not is_homeless(p))
        missing = collections.Counter(owner_of(p) for p in before if not is_leaving(p))
        missing.subtract(collections.Counter(owner_of(p) for p in after if not is_leaving(p)))
        self.compare_places(before, after, said)
        self.compare_others(before, left, said, bold)
        for owner in sorted({*waiting, *homeless, *unmade}):
            now = max(waiting[owner], 0)  # one that waited before may have found room: nothing was said of it
            in_order = owner.startswith("StatefulSet/") and owner.partition("/")[2] in self.made.ordered
            if now == homeless[owner] and (not in_order or missing[owner] == unmade[owner]):
                continue
            if bold is not None:
                self.preempted += 1
            elif self.is_rivalry(owner, now, homeless, before, after, said):
                self.rivals += 1
            elif self.is_order(owner, now, homeless, said):
                self.order += 1
            else:
                self.fault(f"{owner}: the plan says that {homeless[owner]} find no room and {unmade[owner]} are not made again, "
                           f"it was {waiting[owner]} and {missing[owner]}")
        self.old = {p["metadata"]["uid"] for p in before}
        for p in said.values():
            if is_homeless(p):
                self.messages += 1
                self.compare_message(p)
        return swapped | moved

    def dry_budgets(self) -> set[str]:
        """Apps whose budget allows nothing now."""
        return {b["spec"]["selector"]["matchLabels"]["app"] for b in self.world.items("/apis/policy/v1/poddisruptionbudgets")
                if not b.get("status", {}).get("disruptionsAllowed")}

    def was_first(self, owner: str, said: dict[str, dict], after: list[dict]) -> bool:
        """Whether the plan sends a pod of this owner to a node that is drained later, and one that was made since then has no place now."""
        return any(p.get("owner") == owner and p.get("to") in self.made.target for p in said.values()) and any(
            owner_of(p) == owner and p["metadata"]["uid"] not in said and waits_for_room(p) is not None for p in after)

    def swaps(self, said: dict[str, dict], wrong: list[str], left: set[str]) -> set[str]:
        """Pods of one owner that one budget lets go one at a time, from nodes that are drained at the same time: which of them is first is
        anybody's guess.  As many as the plan says must go, of which owner and why not the others must be as it says."""
        by_owner: dict[str, list[str]] = collections.defaultdict(list)
        for uid in wrong:
            by_owner[said[uid].get("owner", "")].append(uid)
        found: set[str] = set()
        for owner, uids in by_owner.items():
            stays = [u for u in uids if u in left]
            held = [u for u in uids if u not in left]
            same = all(said[u]["blocker"]["code"] in ("PDBNoBudget", "MaxUnavailableReached") for u in held)
            if owner and same and len(stays) == len(held):
                found |= set(uids)
                self.swapped += len(stays)
        return found

    def is_bold(self, before: list[dict], said: dict[str, dict]) -> int | None:
        """How important the most important replacement is that is said to go and has no place, because it pushes others aside; None."""
        least = min(p["spec"].get("priority", 0) for p in before)
        return max((p["spec"].get("priority", 0) for p in before
                    if p["metadata"]["uid"] in said and said[p["metadata"]["uid"]]["verdict"] in ("goes", "waits")
                    and not said[p["metadata"]["uid"]].get("to") and p["spec"].get("priority", 0) > least
                    and p["spec"].get("preemptionPolicy") != "Never" and owner_of(p)), default=None)

    def compare_others(self, before: list[dict], left: set[str], said: dict[str, dict], bold: int | None) -> None:
        """Nobody takes pods off other nodes, but for preemption."""
        for p in before:
            if p["metadata"]["uid"] not in left and p["metadata"]["uid"] not in said and not is_leaving(p) and p["spec"].get("nodeName"):
                if bold is not None and p["spec"].get("priority", 0) < bold:
                    self.preempted += 1
                else:
                    self.fault(f"pod {p['metadata']['name']} of another node is gone")

    def is_rivalry(self, owner: str, now: int, homeless: collections.Counter, before: list[dict], after: list[dict],
                   said: dict[str, dict]) -> bool:
        """Pods that leave at the same time compete for the last places: who is gone first, and which of several good nodes each takes, is
        not foreseen.  So it was when a pod for which the plan saw no room is where the plan had put another's, which is not there; or when,
        where the plan had put a pod that now has no room, there is one that the plan did not see there."""
        old = {p["metadata"]["uid"] for p in before}
        came = collections.Counter((owner_of(p), p["spec"].get("nodeName")) for p in after if p["metadata"]["uid"] not in old)
        places = collections.Counter((p["owner"], p["to"]) for p in said.values() if p.get("to"))
        if now < homeless[owner]:
            return any(o != owner and came[o, node] < places[o, node] and came[owner, node] > places[owner, node]
                       and self.is_scarce(node, places - came, after) for o, node in places)
        mine = {node for o, node in places if o == owner and came[o, node] < places[o, node]}
        return any(o != owner and node in mine and count > places[o, node] for (o, node), count in came.items())

    def is_scarce(self, node: str, absent: collections.Counter, after: list[dict]) -> bool:
        """Whether those that the plan had put there and that are elsewhere would not fit any more, beside those that came instead."""
        size = next(1000 * n["cpu"] for n in self.made.nodes if n["name"] == node)
        owners = {o: count for (o, where), count in absent.items() if where == node}
        specs = {owner_of(p): p["spec"] for p in after}
        if any(v.keys() & {"ephemeral", "persistentVolumeClaim"} for o in owners for v in specs.get(o, {}).get("volumes", [])):
            return True  # disks are scarce, too
        free = size - sum(cpu_of(p["spec"]) for p in after if p["spec"].get("nodeName") == node)
        return free < sum(count * cpu_of(specs[o]) for o, count in owners.items() if o in specs)

    def is_order(self, owner: str, now: int, homeless: collections.Counter, said: dict[str, dict]) -> bool:
        """Where pods must be apart, or spread, it matters which of several leaves first, when they are evicted at the same time; but not to
        more of them than that."""
        app = next((o for o in self.made.objects if o["kind"] in ("Deployment", "StatefulSet", "Job")
                    and re.fullmatch(re.escape(o["metadata"]["name"]) + r"(-[a-z0-9]+)?", owner.partition("/")[2])), None)
        spec = app["spec"]["template"]["spec"] if app else {}
        times = [p.get("evicted") for p in said.values() if p.get("owner") == owner and "evicted" in p]
        apart = "topologySpreadConstraints" in spec or "podAntiAffinity" in spec.get("affinity", {})
        return apart and abs(now - homeless[owner]) <= len(times) - len(set(times))

    def compare_places(self, before: list[dict], after: list[dict], said: dict[str, dict]) -> None:
        """For the record: of equally good nodes the scheduler takes any."""
        old = {p["metadata"]["uid"] for p in before}
        came = collections.Counter((owner_of(p), p["spec"].get("nodeName")) for p in after if p["metadata"]["uid"] not in old)
        for p in said.values():
            if p["verdict"] in ("goes", "waits") and p.get("to"):
                self.placed += 1
                if came[p["owner"], p["to"]] > 0:
                    came[p["owner"], p["to"]] -= 1
                    self.foreseen += 1

    def replacements(self, planned: dict) -> list[dict]:
        """Of this pod, those that are Pending: of a StatefulSet that of its name, else any of its owner that was not there before."""
        stateful = planned["owner"].startswith("StatefulSet/")
        return [p for p in self.pods() if owner_of(p) == planned["owner"] and p["metadata"]["uid"] not in self.old
                and waits_for_room(p) is not None and (not stateful or p["metadata"]["name"] == planned["name"])]

    def compare_message(self, planned: dict) -> None:
        """The scheduler's last word may be from before the last change, which it knew not to help: then it is asked anew, by a pod that is
        made again."""
        want = re.sub(r"^its volume \S+ is on this node alone; ", "", planned["blocker"]["message"])
        late = [p for p in self.replacements(planned) if waits_for_room(p) != want]
        if not late:
            return
        self.asked_again += 1
        for p in late:
            self.world.call("DELETE", path_of(p), {"gracePeriodSeconds": 0})
        self.wait(lambda: self.at_rest(before=False), "the scheduler's new word")
        for p in self.replacements(planned):
            m = waits_for_room(p)
            if m == want:
                continue
            if self.placed == self.foreseen and not (self.swapped or self.preempted or self.rivals or self.order):
                self.fault(f"pod {planned['name']}: the plan says {want!r}, the scheduler {m!r}")
            else:
                self.elsewhere += 1
                self.compare_now(p, m, want)

    def compare_now(self, pod: dict, message: str, planned: str) -> None:
        """Others are not where the plan has put them, who also fitted elsewhere: asked about the cluster as it has become, we must say what the
        scheduler says; and what has nothing to do with other pods is as the plan says."""
        own = self.world.explain(pod)
        if own not in (None, message):
            self.fault(f"pod {pod['metadata']['name']}: we say {own!r}, the scheduler {message!r}")
        if lasting(planned) != lasting(message):
            self.fault(f"pod {pod['metadata']['name']}: the plan says {planned!r}, the scheduler {message!r}")
