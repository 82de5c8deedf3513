"""The verb `snapshot`, and what is made of its file: `sim --snapshot`."""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import SLIPWAY, Result, run  # noqa: E402
from simulation import Sim, until  # noqa: E402

FAILED, ACCESS, USAGE = 1, 4, 64
HUSH = "hush-hush-9f2"  # stands for all that is nobody's business

SECRETIVE = {
    "apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "web", "annotations": {
        "kubectl.kubernetes.io/last-applied-configuration": HUSH, "example.com/key": HUSH,
        "kubernetes.io/change-cause": "kubectl set env deployment/web TOKEN=" + HUSH + " --record=true"}},
    "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}, "annotations": {"vault.example.com/role": HUSH}},
        "spec": {"terminationGracePeriodSeconds": 20, "containers": [{
            "name": "web", "image": "example.com/web:1", "workingDir": "/" + HUSH, "command": ["run", HUSH],
            "terminationMessagePath": "/" + HUSH, "volumeMounts": [{"name": "source", "mountPath": "/" + HUSH, "subPath": HUSH}], "args": ["--token=" + HUSH],
            "env": [{"name": "TOKEN", "value": HUSH}], "envFrom": [{"secretRef": {"name": "key"}}],
            "lifecycle": {"preStop": {"exec": {"command": ["stop", HUSH]}}},
            "livenessProbe": {"exec": {"command": ["check", HUSH]}},
            "readinessProbe": {"httpGet": {"path": "/ready?" + HUSH, "port": 80,
                                           "httpHeaders": [{"name": "Authorization", "value": HUSH}]}}}],
            "hostname": HUSH, "subdomain": HUSH, "hostAliases": [{"ip": "192.0.2.7", "hostnames": [HUSH]}],
            "imagePullSecrets": [{"name": HUSH}],
            "volumes": [{"name": "files", "nfs": {"server": HUSH, "path": "/" + HUSH}}, {"name": "host", "hostPath": {"path": "/" + HUSH}},
                        {"name": "keys", "secret": {"secretName": HUSH, "optional": True, "items": [{"key": HUSH, "path": HUSH}]}},
                        {"name": "source", "gitRepo": {"repository": f"https://{HUSH}@example.com/x.git"}},
                        {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]}}}}

# Each of another kind.
SECRETIVE_TOO = [
    ("/apis/apps/v1/namespaces/default/statefulsets", {
        "metadata": {"name": "db"}, "spec": {
            "serviceName": "db", "replicas": 1, "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": {
                "initContainers": [{"name": "i", "image": "example.com/i", "args": [HUSH]}],
                "containers": [{"name": "db", "image": "example.com/db", "env": [{"name": "PASSWORD", "value": HUSH}]}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data", "annotations": {"example.com/key": HUSH}}, "spec": {
                "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}}),
    ("/apis/batch/v1/namespaces/default/jobs", {
        "metadata": {"name": "once"}, "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "example.com/c", "command": ["sh", "-c", "login " + HUSH]}]}}}}),
    ("/api/v1/persistentvolumes", {
        "metadata": {"name": "share", "annotations": {"volume.beta.kubernetes.io/mount-options": "password=" + HUSH}}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "mountOptions": ["username=me", "password=" + HUSH],
            "nfs": {"server": HUSH, "path": "/" + HUSH}}}),
    ("/api/v1/persistentvolumes", {
        "metadata": {"name": "disk"}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "mountOptions": ["password=" + HUSH],
            "csi": {"driver": "smb.csi.k8s.io", "volumeHandle": "//192.0.2.9/" + HUSH, "volumeAttributes": {"password": HUSH}}}}),
    ("/apis/storage.k8s.io/v1/storageclasses", {
        "metadata": {"name": "smb"}, "provisioner": "smb.csi.k8s.io", "parameters": {"password": HUSH}, "mountOptions": ["password=" + HUSH]}),
    ("/apis/storage.k8s.io/v1/csinodes", {
        "metadata": {"name": "n"}, "spec": {"drivers": [{"name": "smb.csi.k8s.io", "nodeID": HUSH, "allocatable": {"count": 7}}]}}),
]


def objects(path: Path) -> list[dict]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [json.loads(line) for line in text.splitlines()]


def pods_of(sim: Sim) -> list[tuple]:
    return sorted((p["metadata"]["namespace"], p["metadata"]["name"], p["metadata"]["uid"], p["spec"].get("nodeName"), p["status"]["phase"])
                  for p in sim.client.get("/api/v1/pods")["items"])


class Case(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)


class Snapshot(Case):
    def test_file(self) -> None:
        """One object a line between a first and a last one, plain or compressed, for its owner alone."""
        with Sim("--nodes", "4") as sim:
            for name in ("s.json", "s.json.gz"):
                path = self.directory / name
                done = run("snapshot", "--out", str(path), KUBECONFIG=str(sim.kubeconfig))
                self.assertEqual((done.code, done.err), (0, ""))
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
                lines = objects(path)
                self.assertEqual((lines[0]["slipway"], lines[0]["v"]), ("snapshot", 1))
                self.assertEqual(lines[-1]["slipway"], "end")
                kinds = [o["kind"] for o in lines[1:-1]]
                self.assertEqual(kinds.count("Node"), 4)
                self.assertEqual(lines[-1]["objects"]["Pod"], kinds.count("Pod"))
                self.assertRegex(done.out, rf"(?m)^Pod +{kinds.count('Pod')}$")
                self.assertLess(kinds.index("Node"), kinds.index("Pod"))
                self.assertIn(f"Wrote {path} (", done.out)
            self.assertEqual(sorted(p.name for p in self.directory.iterdir()), ["s.json", "s.json.gz"])

    def test_what_is_no_regular_file(self) -> None:
        """It is written to, or stays what it is; a link leads where it led."""
        fifo, link, target, device = (self.directory / name for name in ("fifo", "link", "target", "device"))
        os.mkfifo(fifo)
        link.symlink_to("target")
        with Sim("--nodes", "2") as sim:
            reader = subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE)
            done = run("snapshot", "--out", str(fifo), KUBECONFIG=str(sim.kubeconfig))
            if not stat.S_ISFIFO(fifo.lstat().st_mode):  # its reader would wait for ever
                reader.kill()
            lines = [json.loads(line) for line in reader.communicate()[0].splitlines()]
            self.assertEqual((done.code, done.err, lines[-1]["slipway"]), (0, "", "end"))
            for _ in range(2):
                self.assertEqual(run("snapshot", "--out", str(link), KUBECONFIG=str(sim.kubeconfig)).code, 0)
                self.assertTrue(link.is_symlink())
                self.assertEqual(objects(target)[-1]["slipway"], "end")
            self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o600)
            try:
                os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
            except PermissionError:
                self.skipTest("only root makes devices")
            run("snapshot", "--out", str(device), KUBECONFIG=str(sim.kubeconfig))
            self.assertTrue(stat.S_ISCHR(device.lstat().st_mode))
        self.assertEqual(sorted(p.name for p in self.directory.iterdir()), ["device", "fifo", "link", "target"])

    def test_nothing_secret(self) -> None:
        with Sim("--nodes", "2", "--scenario", "empty") as sim:
            c = sim.client
            for kind, body in (("secrets", {"stringData": {"a": HUSH}}), ("configmaps", {"data": {"a": HUSH}})):
                self.assertEqual(c.call("POST", f"/api/v1/namespaces/default/{kind}", {"metadata": {"name": "key"}, **body})[0], 201)
            for target, body in (("/apis/apps/v1/namespaces/default/deployments", SECRETIVE), *SECRETIVE_TOO):
                code, answer = c.call("POST", target, body)
                self.assertEqual(code, 201, answer)
            until(lambda: len([p for p in c.pods() if p["status"]["phase"] == "Running"]) >= 5, "pods")
            path = self.directory / "s.json"
            self.assertEqual(run("snapshot", "--out", str(path), KUBECONFIG=str(sim.kubeconfig)).code, 0)
        text = path.read_text()
        self.assertNotIn(HUSH, text)
        for word in ('"Secret"', '"ConfigMap"', "TOKEN", "PASSWORD", "kubectl.kubernetes.io", "change-cause", "192.0.2."):
            self.assertNotIn(word, text)
        self.assertIn("example.com/web:1", text)
        drivers = next(o for o in objects(path) if o.get("kind") == "CSINode")["spec"]["drivers"]
        self.assertEqual([(d["name"], d["allocatable"]) for d in drivers], [("smb.csi.k8s.io", {"count": 7})])

    def test_mistakes(self) -> None:
        done = run("snapshot")
        self.assertEqual(done.code, USAGE)
        self.assertIn("say where to write it: --out FILE", done.err)
        with Sim("--nodes", "1", "--scenario", "empty") as sim:
            done = run("snapshot", "--out", "/nonexistent/x", KUBECONFIG=str(sim.kubeconfig))
            self.assertEqual((done.code, done.out), (FAILED, ""))
            self.assertIn("--out: /nonexistent/x: ", done.err)
            for directory in (str(self.directory), f"{self.directory}/"):  # before anything is read
                done = run("snapshot", "--out", directory, "-v4", KUBECONFIG=str(sim.kubeconfig))
                self.assertEqual((done.code, done.out), (FAILED, ""))
                self.assertTrue(done.err.endswith(f"error: --out: {directory}: Is a directory\n"), done.err)
                self.assertNotIn("/api/v1", done.err)
            kubeconfig = self.directory / "k"
            kubeconfig.write_text(sim.kubeconfig.read_text())
        path = self.directory / "old.json"
        path.write_text("precious")
        done = run("snapshot", "--out", str(path), KUBECONFIG=str(kubeconfig))
        self.assertEqual(done.code, ACCESS)
        self.assertEqual(path.read_text(), "precious")  # what was there stays when nothing comes of it
        self.assertEqual(sorted(p.name for p in self.directory.iterdir()), ["k", "old.json"])


class Served(Case):
    def take(self, *args: str) -> tuple[Path, list[tuple]]:
        path = self.directory / "s.json.gz"
        with Sim(*args) as sim:
            done = run("snapshot", "--out", str(path), KUBECONFIG=str(sim.kubeconfig))
            self.assertEqual(done.code, 0, done.err)
            return path, pods_of(sim)

    def test_the_same_cluster(self) -> None:
        """Pods with their uids on their nodes, and nothing begins to move."""
        for args in (("--nodes", "5"), ("--scenario", "stateful"), ("--scenario", "control-plane")):
            with self.subTest(args):
                path, pods = self.take(*args)
                with Sim("--snapshot", str(path), "--speed", "100") as copy:
                    self.assertIn("It is a copy of another, as that was at 20", copy.out)
                    self.assertEqual(pods_of(copy), pods)
                    until(lambda: self.minutes(copy) > 5, "five minutes")
                    self.assertEqual(pods_of(copy), pods)

    @staticmethod
    def minutes(sim: Sim) -> float:
        """How old the newest heartbeat is beside the oldest creation of a lease: by the simulated clock alone."""
        leases = sim.client.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")["items"]
        times = [(datetime.fromisoformat(x["spec"]["renewTime"].replace("Z", "+00:00"))
                  - datetime.fromisoformat(x["metadata"]["creationTimestamp"].replace("Z", "+00:00"))).total_seconds() for x in leases]
        return max(times, default=0) / 60

    def test_it_lives(self) -> None:
        """A pod that is deleted is replaced; a drain works."""
        path, _ = self.take("--nodes", "5")
        done = run("sim", "--snapshot", str(path), "--speed", "20", "--", SLIPWAY, "drain", "w1")
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("node/w1 drained", done.out)

    def test_a_bug_report(self) -> None:
        """What the verbs said there they say here, from the file alone: no other cluster can be reached."""
        path = self.directory / "s.json.gz"
        verbs = (("why", "w1"), ("plan", "w1"), ("doctor", "--pdbs"), ("drain", "w1", "--dry-run=server"), ("checks",))
        for scenario in ("pdb-stuck", "two-budgets"):
            with Sim("--scenario", scenario) as sim:
                there = [run(*verb, KUBECONFIG=str(sim.kubeconfig)) for verb in verbs]
                self.assertEqual(run("snapshot", "--out", str(path), KUBECONFIG=str(sim.kubeconfig)).code, 0)
            for verb, was in zip(verbs, there):
                with self.subTest(scenario, verb=verb):
                    here = run("sim", "--snapshot", str(path), "--", SLIPWAY, *verb, KUBECONFIG="/nonexistent", HTTPS_PROXY="http://127.0.0.1:9")
                    self.assertEqual(here.code, was.code, here.err)
                    self.assertEqual(self.timeless(here.out), self.timeless(was.out))
                    self.assertTrue(here.out, here.err)

    @staticmethod
    def timeless(text: str) -> list[str]:
        """Without what differs from one minute to the next, and from one server to another."""
        text = re.sub(r"\bPlan [0-9a-f]{16}\b|https://\S+|\b\d+(\.\d+)?(ms|s|m|h)\b|\b\d\d:\d\d:\d\d\b|20\d\d-\d\d-\d\dT[\d:.]+Z", "#", text)
        return [re.sub(r"[# ]+", " ", line).strip() for line in text.splitlines()]

    def test_mistakes(self) -> None:
        path, _ = self.take("--nodes", "2", "--scenario", "empty")
        for args, code, words in (
                (("--snapshot", str(path), "--nodes", "3"), USAGE, "--snapshot is the whole cluster"),
                (("--snapshot", str(path), "--scenario", "zones"), USAGE, "--snapshot is the whole cluster"),
                (("--snapshot", str(self.directory / "none")), USAGE, "No such file"),
                (("--snapshot", "/dev/null"), USAGE, "is no regular file"),
                (("--snapshot", SLIPWAY), USAGE, "")):
            with self.subTest(args):
                done = run("sim", *args, "--", "true")
                self.assertEqual((done.code, done.out), (code, ""), done.err)
                self.assertIn(words, done.err)
                self.assertEqual(len(done.err.splitlines()), 1 + ("See '" in done.err), done.err)

    def test_what_was_not_read_is_not_what_is_not_there(self) -> None:
        path, _ = self.take("--nodes", "2", "--scenario", "empty")
        read = gzip.open if path.suffix == ".gz" else open
        with read(path, "rt") as f:
            *lines, end = f.read().splitlines()
        tail = json.loads(end)
        tail["unread"] = [{"resource": "volumes.longhorn.io", "why": "User \"x\" cannot list"}]
        plain = self.directory / "unread.json"
        plain.write_text("\n".join([*lines, json.dumps(tail)]) + "\n")
        done = run("sim", "--snapshot", str(plain), "--", SLIPWAY, "checks", "-o", "json")
        self.assertEqual(done.code, 0, done.err)
        said = json.loads(done.out)
        states = {c["name"]: c["state"] for c in said["checks"]}
        self.assertEqual((states["longhorn"], states["rook-ceph"]), ("unreadable", "notInstalled"))
        self.assertIn("it was not read when the snapshot was taken: User \"x\" cannot list", done.out.replace('\\"', '"'))

    def test_cut_off(self) -> None:
        path, _ = self.take("--nodes", "2", "--scenario", "empty")
        data = path.read_bytes()
        for part in (0.2, 0.5, 0.99):
            path.write_bytes(data[:int(len(data) * part)])
            done: Result = run("sim", "--snapshot", str(path), "--", "true")
            self.assertEqual(done.code, USAGE, done.err)


if __name__ == "__main__":
    tap.main()
