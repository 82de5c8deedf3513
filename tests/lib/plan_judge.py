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

from plan_clusters import HOLD, LIMIT, PAIRS, Made

EXPLAINED = ("elsewhere", "preempted")  # see Trial
MOST = 0.1  # of the pods that are judged: when more than these need an explanation, something is wrong
NOT_DRAINED = ("never", "unsure")
GOES = ("goes", "waits", "homeless")
FITS = "it fits"
CHANCE = "is chance"  # of a blocker that says so
ENOUGH = 10  # clusters that say something together
MOST_CHANCE = 0.15  # of nodes, and of pods: whoever calls everything chance says nothing


class World(Protocol):
    patience: float  # seconds after which something hangs
    stuck: float  # seconds that a drain gets which the plan says does not get through; then it is killed
    longer: float  # the same when pods are there that take their time to go
    enough: float  # and one that does
    rehearsals: int  # of a plan for several nodes, before it is carried out; 0: none

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
    """In all trials together: differences that were explained, and what the plans leave open.  A few clusters may be alike."""
    if seen["clusters"] < ENOUGH:
        return False
    judged = sum(seen[verdict] for verdict in (*GOES, *NOT_DRAINED))
    nodes = sum(count for what, count in seen.items() if what.startswith("node "))
    return (sum(seen[name] for name in EXPLAINED) > max(MOST * judged, 3) or seen["nodes by chance"] > max(MOST_CHANCE * nodes, 3)
            or seen["pods by chance"] > max(MOST_CHANCE * judged, 6))


def message_of(said: dict) -> str:
    return said.get("blocker", {}).get("message", "")


def says_chance(said: dict) -> bool:
    """Of a pod or a node: the plan says that it may come out either way."""
    return said["verdict"] == "unsure" and CHANCE in message_of(said)


def place_is_chance(planned: dict) -> bool:
    """It leaves; whether its replacement finds a place is chance."""
    return planned["verdict"] == "homeless" and CHANCE in message_of(planned)


def is_homeless(planned: dict) -> bool:
    """Whether its replacement is said to be Pending.  Of one that is not made because it has its turn after another, that is said instead."""
    return planned["verdict"] == "homeless" and planned["blocker"]["code"] != "NotRescheduled" and not place_is_chance(planned)


def is_unmade(planned: dict) -> bool:
    return planned["verdict"] == "homeless" and planned["blocker"]["code"] == "NotRescheduled" and not place_is_chance(planned)


RANK = ("stays", "goes", "waits", "homeless", "unsure", "never")


def contradictions(plan: dict) -> list[str]:
    """What one part of a plan says and another does not: these need no drain to be wrong."""
    wrong = []
    for n in plan["nodes"]:
        worst = max((RANK.index(p["verdict"]) for p in n["pods"]), default=0)
        own = "blocker" in n or any(f.get("verdict") in ("wait", "deny", "unknown") for f in n.get("checks", []))
        verdict = RANK.index(n["verdict"])
        if verdict < worst or (verdict > max(worst, RANK.index("goes")) and not own):
            wrong.append(f"node {n['name']} is {n['verdict']}, the worst of its pods {RANK[worst]}")
        if ("ends" in n) == (n["verdict"] in NOT_DRAINED):
            wrong.append(f"node {n['name']} is {n['verdict']}, and it says {'' if 'ends' in n else 'not '}when it ends")
        if CHANCE in message_of(n) and n["verdict"] not in NOT_DRAINED:
            wrong.append(f"node {n['name']} is {n['verdict']}, and its blocker says {message_of(n)!r}")
        for p in n["pods"]:
            if ("blocker" in p) != (p["verdict"] not in ("stays", "goes")):
                wrong.append(f"pod {p['name']} is {p['verdict']}, with{'' if 'blocker' in p else 'out'} a blocker")
            if p["verdict"] in (*NOT_DRAINED, "homeless") and p.get("to"):
                wrong.append(f"pod {p['name']} is {p['verdict']}, and its replacement goes to {p['to']}")
    if ("seconds" in plan) != all("ends" in n for n in plan["nodes"]):
        wrong.append("the plan has an end that not all nodes have, or the other way round")
    counted = collections.Counter(p["verdict"] for n in plan["nodes"] for p in n["pods"])
    if {v: c for v, c in plan["pods"].items() if c} != dict(counted):
        wrong.append(f"the pods are {plan['pods']}, counted {dict(counted)}")
    return wrong


class Trial:
    """faults: what did not come true.  And what was compared, and how often which of the things was that explain a difference:

    messages      pods without room whose message was compared; placed, foreseen: replacements, and those that are where the plan said
    asked_again   the message of a Pending pod was out of date, and the pod was made anew
    elsewhere     a replacement took another of several good nodes, and so other nodes are full: the words differ, not the verdict
    preempted     the scheduler evicts less important pods for one that is said to go, without a place: what others find then is not foreseen

    Nothing else is explained away: what depends on who is quicker is for the plan to say, and how often it does so is counted as well.
    """

    def __init__(self, world: World, made: Made) -> None:
        self.world, self.made = world, made
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.messages = self.asked_again = self.placed = self.foreseen = self.preempted = self.elsewhere = 0
        self.verdicts: collections.Counter = collections.Counter()
        self.nodes: collections.Counter = collections.Counter()
        self.said = ""
        self.story: list[str] = []  # for whoever reads of a fault
        self.unrest = ""

    def counts(self) -> collections.Counter:
        names = ("messages", "asked_again", "placed", "foreseen", *EXPLAINED)
        return self.verdicts + self.nodes + collections.Counter({name: getattr(self, name) for name in names})

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
            self.rehearse()
            if "adopted" in self.plan and self.made.seed % 2:  # what is said of all at once must be true as well
                self.world.slipway("plan", "drain", *self.made.target, *self.made.flags, f"--parallel={len(self.plan['nodes'])}", "--out", str(path))
                self.plan = json.loads(path.read_text())
            self.nodes["limits adopted"] += "adopted" in self.plan
            self.faults += contradictions(self.plan)
            self.nodes["clusters"] += 1
            self.carry_out(before, path)
        return self

    def rehearse(self) -> None:
        """One drain is one way in which it may come out: what is said for certain comes true in all of them."""
        names, runs = [n["name"] for n in self.plan["nodes"]], self.world.rehearsals if len(self.plan["nodes"]) > 1 else 0
        if not runs:
            return
        words = [*names, *self.plan["flags"], *([] if "--in-order" in self.plan["flags"] else ["--in-order"])]
        done = self.world.slipway("rehearse", *words, "--runs", str(runs), "--seed", str(self.made.seed), "-o", "json")
        if not done.out:
            self.fault(f"no rehearsal: {done}")
            return
        self.nodes["plans rehearsed"] += 1
        self.nodes["limits rehearsed"] += "adopted" in self.plan
        drained = {n["name"]: n["drainedRuns"] for n in json.loads(done.out)["nodes"]}
        for n in self.plan["nodes"]:
            wrong = drained.get(n["name"], 0) > 0 if n["verdict"] == "never" else n["verdict"] != "unsure" and drained.get(n["name"], 0) < runs
            if wrong:
                self.fault(f"node {n['name']}: the plan ({words}) says {n['verdict']}, it is drained in {drained.get(n['name'], 0)} of {runs} "
                           "rehearsals")

    def carry_out(self, before: list[dict], path: Path) -> None:
        """By a drain with the same words; where the order matters, by what runs the plan itself."""
        hopeless = any(n["verdict"] in NOT_DRAINED for n in self.plan["nodes"])
        slow = self.made.leaving or self.made.doomed
        seconds = self.world.enough if not hopeless else self.world.longer if slow else self.world.stuck
        turns = {LIMIT, PAIRS} & set(self.made.flags) or "adopted" in self.plan
        words = ["apply", str(path)] if turns else ["drain", *self.made.target, *self.made.flags]
        done = self.world.slipway(*words, seconds=seconds)
        self.said = done.err
        drained = set(re.findall(r"^node/(\S+) drained$", done.out, re.M))
        after = self.wait(lambda: self.at_rest(before=False), "an end of what goes on")
        self.story = [f"planned: {p['name']} on {n['name']} {p['verdict']}, to {p.get('to')}, {p.get('blocker', {}).get('message', '')}"
                      for n in self.plan["nodes"] for p in n["pods"]]
        self.story += [f"{when}: {describe(p)}" for when, pods in (("before", before), ("after", after)) for p in pods]
        self.compare_pods(before, after)
        self.compare_nodes(drained, after)

    def compare_nodes(self, drained: set[str], after: list[dict]) -> None:
        left = {p["metadata"]["uid"] for p in after}
        for n in self.plan["nodes"]:
            self.verdicts[f"node {n['verdict']}"] += 1
            name, is_drained = n["name"], n["name"] in drained
            stuck = [p["name"] for p in n["pods"] if p["verdict"] in NOT_DRAINED and not says_chance(p)]
            here = [p["name"] for p in n["pods"] if p["verdict"] != "stays" and p["uid"] in left]
            chance = n["verdict"] == "unsure" and (says_chance(n) or (not stuck and any(says_chance(p) for p in n["pods"])))
            self.nodes["nodes by chance"] += chance
            if is_drained and stuck:
                self.fault(f"node {name} is drained, and the plan says that {stuck} do not go")
            elif is_drained and here:
                self.fault(f"node {name} is drained, and {here} are still there")
            elif not chance and (n["verdict"] not in NOT_DRAINED) != is_drained:
                self.fault(f"node {name}: the plan says {n['verdict']}, it is {'' if is_drained else 'not '}drained")

    def compare_pods(self, before: list[dict], after: list[dict]) -> None:
        said = {p["uid"]: p for n in self.plan["nodes"] for p in n["pods"]}
        self.old = {p["metadata"]["uid"] for p in before}
        left = {p["metadata"]["uid"] for p in after}
        bold = self.is_bold(before, said)
        leaving = {p["metadata"]["uid"] for p in before if is_leaving(p)}
        for uid, p in said.items():
            self.verdicts[p["verdict"]] += 1
            self.nodes["pods by chance"] += says_chance(p) or place_is_chance(p)
            if p["verdict"] == "never" and p["blocker"]["code"] == "PinnedToNode" and uid not in left:
                # Evicted all the same, and there again: whoever makes it anew puts it there.
                if not any(owner_of(q) == p["owner"] and q["spec"].get("nodeName") in self.made.target for q in after):
                    self.fault(f"pod {p['name']}: the plan says that it is pinned, and it has not come back")
            elif says_chance(p) or (p["verdict"] == "unsure" and uid in leaving):
                pass  # or it was on its way out, and nobody can tell when it is gone
            elif (p["verdict"] in GOES) == (uid in left):
                self.fate_differs(before, uid, p, uid in left, bold)
        self.compare_places(before, after, said)
        self.compare_others(before, left, said, bold)
        self.compare_rooms(before, after, said, bold)
        for p in said.values():
            if is_homeless(p):
                self.messages += 1
                self.compare_message(p)

    def fate_differs(self, before: list[dict], uid: str, planned: dict, is_left: bool, bold: int | None) -> None:
        priority = next(p["spec"].get("priority", 0) for p in before if p["metadata"]["uid"] == uid)
        if bold is not None and (planned.get("blocker", {}).get("code") == "PDBNoBudget" if is_left else priority < bold):
            self.preempted += 1  # it was pushed aside, or others have got what they would not have
        else:
            self.fault(f"pod {planned['name']}: the plan says {planned['verdict']}, it is {'left' if is_left else 'gone'}")

    def compare_rooms(self, before: list[dict], after: list[dict], said: dict[str, dict], bold: int | None) -> None:
        """How many wait for room.  A StatefulSet's pods have their names again, a ReplicaSet's others: compared by owner."""
        left = {p["metadata"]["uid"] for p in after}
        names = {p["metadata"]["name"] for p in before}
        # A StatefulSet's successor has a name that was there: one of another name is one more, because those before it were ready at last.
        waiting = collections.Counter(owner_of(p) for p in after if waits_for_room(p) is not None and p["metadata"]["uid"] not in self.old and
                                      (p["metadata"]["name"] in names or not owner_of(p).startswith("StatefulSet/")))
        missing = collections.Counter(owner_of(p) for p in before if not is_leaving(p))
        missing.subtract(collections.Counter(owner_of(p) for p in after if not is_leaving(p)))
        missing = +missing  # a set whose pod has found room by itself may have made one more
        homeless = collections.Counter(p.get("owner", "") for p in said.values() if is_homeless(p))
        unmade = collections.Counter(p["owner"] for p in said.values() if is_unmade(p))
        # Whether one that goes by chance finds a place is not said.
        open_ends = collections.Counter(p.get("owner", "") for p in said.values() if (says_chance(p) or place_is_chance(p)) and p["uid"] not in left)
        for owner in sorted({*waiting, *homeless, *unmade}):
            in_order = owner.startswith("StatefulSet/") and owner.partition("/")[2] in self.made.ordered
            not_made = missing[owner] if in_order else 0
            if open_ends[owner]:
                wrong = not 0 <= waiting[owner] + not_made - homeless[owner] - unmade[owner] <= open_ends[owner]
            else:
                wrong = (waiting[owner], not_made) != (homeless[owner], unmade[owner])
            if wrong and bold is not None and self.pushes(before, said, owner, bold):
                self.preempted += 1
            elif wrong:
                self.fault(f"{owner}: the plan says that {homeless[owner]} find no room and {unmade[owner]} are not made again, up to "
                           f"{open_ends[owner]} more by chance, it was {waiting[owner]} and {missing[owner]}")

    def pushes(self, before: list[dict], said: dict[str, dict], owner: str, bold: int) -> bool:
        """Whether pods of this owner can be pushed aside, or compete for what is left by those who are."""
        return any(owner_of(p) == owner and p["spec"].get("priority", 0) <= bold for p in before)

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
            if self.placed == self.foreseen and not (self.preempted or self.nodes["pods by chance"]):
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
