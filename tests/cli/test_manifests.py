"""`slipway install --dry-run=client` and `slipway export zincati`: what is printed, and that the files in the tree are that.

    SLIPWAY_GOLDEN=write python3 tests/cli/test_manifests.py; git diff kubernetes deploy

What a real server makes of them, and as whom the controller runs then: tests/cluster/test_install.py.
"""

from __future__ import annotations

import json
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import TOP, run  # noqa: E402
from simulation import Sim  # noqa: E402

FILES = {"kubernetes/deployment.yaml": ("--form=reboot-manager",), "deploy/slipway.yaml": (),
         "deploy/flow-schema.yaml": ("--part=flow-schema",)}
ZINCATI = """\
# /etc/zincati/config.d/reboot-manager.toml, on each node

# How to finalize update.
[updates]
# Update strategy which uses an external reboot coordinator (FleetLock protocol).
strategy = "fleet_lock"

# Base URL for the FleetLock service.
fleet_lock.base_url = "%s"
"""


class Case(unittest.TestCase):
    def good(self, *args: str, **env: str | None) -> str:
        done = run(*args, **env)
        self.assertEqual((done.code, done.err), (0, ""), args)
        return done.out

    def wrong(self, code: int, words: str, *args: str, **env: str | None) -> None:
        done = run(*args, **env)
        self.assertEqual((done.code, done.out), (code, ""), args)
        self.assertIn(words, done.err)


class Install(Case):
    def printed(self, *flags: str) -> str:
        return self.good("install", "--dry-run=client", *flags)

    def objects(self, *flags: str) -> list[dict]:
        told = json.loads(self.printed("-o", "json", *flags))
        self.assertEqual((told["apiVersion"], told["kind"]), ("v1", "List"))
        return told["items"]

    def of_kind(self, kind: str, *flags: str) -> dict:
        return next(o for o in self.objects(*flags) if o["kind"] == kind)

    def test_files(self) -> None:
        for name, flags in FILES.items():
            out = self.printed("-o", "yaml", *flags)
            if os.environ.get("SLIPWAY_GOLDEN") == "write":
                (TOP / name).parent.mkdir(exist_ok=True)
                (TOP / name).write_text(out)
            self.assertEqual(out, (TOP / name).read_text(), f"{name}: SLIPWAY_GOLDEN=write writes it anew")
            self.assertEqual(self.printed(*flags), out, "YAML is what it prints when nothing is said")

    def test_definitions(self) -> None:
        crds = [o for o in self.objects() if o["kind"] == "CustomResourceDefinition"]
        self.assertEqual(crds, json.loads(self.good("export", "crds", "-o", "json"))["items"])
        self.assertEqual(crds, self.objects("--part", "crds"))
        self.assertNotIn("CustomResourceDefinition", self.printed("--form", "reboot-manager"))

    def test_parts(self) -> None:
        """Each object is in one of them, and the namespace comes first."""
        kinds = {part: [o["kind"] for o in self.objects("--part", part)] for part in ("rbac", "crds", "controller", "all")}
        self.assertEqual(kinds["all"], kinds["rbac"] + kinds["crds"] + kinds["controller"])
        self.assertEqual(kinds["all"][0], "Namespace")
        self.assertEqual(kinds["controller"], ["ResourceQuota", "Deployment", "PodDisruptionBudget", "Service", "Service"])
        self.assertEqual({o["kind"] for o in self.objects("--part", "flow-schema")}, {"FlowSchema"})

    def test_what_differs(self) -> None:
        """The namespace everywhere, also in bindings; image and replicas; quoted where YAML would read something else."""
        out = self.printed("-n", "123", "--image", "registry.example:5000/a/slipway@sha256:00ff", "--replicas=1", "--part=rbac")
        self.assertNotIn("slipway-system", out)
        self.assertEqual(out.count('namespace: "123"'), 2 + 5, "of the account, its role, and all who bind it")
        spec = self.of_kind("Deployment", "--image", "r.example/x:1", "--replicas", "3")["spec"]
        self.assertEqual((spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]), (3, "r.example/x:1"))

    def test_both_obey_policies(self) -> None:
        """Whoever installs the definitions beside the reboot manager's form gets what they say: it differs by the deletion of pods alone."""
        own, other = ({(r["apiGroups"][0], r["resources"][0], verb) for r in self.of_kind("ClusterRole", "--form", form)["rules"] for verb in r["verbs"]}
                      for form in ("slipway", "reboot-manager"))
        self.assertEqual(own ^ other, {("", "pods", "delete")})
        self.assertIn(("slipway.dev", "policies", "patch"), other)

    def test_one_namespace_is_not_all(self) -> None:
        """ConfigMaps, Leases and Events are permitted where they are needed, and nothing is permitted for all of something."""
        for form in ("slipway", "reboot-manager"):
            for rule in self.of_kind("ClusterRole", "--form", form)["rules"]:
                # One object, wherever Rook has been installed, and one, wherever another Slipway has.
                named = {("rook-ceph-pdbstatemap",): {"configmaps"}, ("slipway-controller",): {"leases"}}.get(
                    tuple(rule.get("resourceNames", ())), set())
                self.assertLessEqual(set(rule["verbs"]), {"list", "watch"} if named else set(rule["verbs"]))
                self.assertFalse({"configmaps", "leases", "events", "secrets"} & set(rule["resources"]) - named, rule)
            for role in (o for o in self.objects("--form", form) if o["kind"] in ("Role", "ClusterRole")):
                self.assertNotIn("*", json.dumps(role))

    def test_listens_where_it_is_asked(self) -> None:
        """The Service and the probes name ports of the container, and its flags are flags of the controller."""
        for form in ("slipway", "reboot-manager"):
            container = self.of_kind("Deployment", "--form", form)["spec"]["template"]["spec"]["containers"][0]
            ports = {p["name"]: p["containerPort"] for p in container["ports"]}
            self.assertIn(f"--fleetlock-listen=:{ports['fleetlock']}", container["args"])
            self.assertIn(f"--http-listen=:{ports['health']}", container["args"])
            self.assertIn(f"--fleetlock-tls-listen=:{ports['fleetlock-tls']}", container["args"])
            service = self.of_kind("Service", "--form", form)
            self.assertEqual([(p["port"], p["targetPort"]) for p in service["spec"]["ports"]], [(80, "fleetlock"), (443, "fleetlock-tls")])
            self.assertIn(service["metadata"]["name"], container["args"][container["args"].index("--fleetlock-service"):])
            self.assertEqual({container[p]["httpGet"]["port"] for p in ("livenessProbe", "readinessProbe")}, {"health"})
            self.wrong(64, "/nonexistent", *container["command"][1:], *container["args"], "--kubeconfig=/nonexistent")

    def test_refusals(self) -> None:
        for flags in ((), ("--dry-run=none",), ("--dry-run=server",)):
            self.wrong(64, "pipe that to 'kubectl apply -f -'", "install", *flags)
        for flags, words in ((("-n", "A"), '"A" cannot be the name of a namespace'), (("--image", "a b"), '"a b" cannot be the name of an image'),
                             (("--replicas=0",), "replicas"), (("--replicas=4",), "replicas"), (("--form=x",), "form"),
                             (("--form=reboot-manager", "--part=crds"), "has no definitions"), (("x",), "no arguments")):
            self.wrong(64, words, "install", "--dry-run=client", *flags)


class Zincati(Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.sim = Sim("--nodes", "1", "--scenario", "empty")
        cls.env = {"KUBECONFIG": str(cls.sim.kubeconfig)}
        cls.create("/api/v1/namespaces", "Namespace", "reboot-manager")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.sim.__exit__()

    @classmethod
    def create(cls, path: str, kind: str, name: str, **more: object) -> dict:
        code, made = cls.sim.client.call("POST", path, {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}} | more)
        assert code == 201, made
        return made

    def service(self, name: str, namespace: str = "default", **spec: object) -> str:
        spec = {"ports": [{"port": 80}]} | spec
        path = f"/api/v1/namespaces/{namespace}/services"
        made = self.create(path, "Service", name, spec=spec)
        self.addCleanup(self.sim.client.call, "DELETE", f"{path}/{name}")
        return made["spec"].get("clusterIP", "")

    def told(self, *flags: str) -> str:
        return self.good("export", "zincati", *flags, **self.env)

    def test_after_the_installation(self) -> None:
        address = self.service("reboot-manager", "reboot-manager")
        self.assertRegex(address, r"^[\d.]+$")
        self.assertEqual(self.told(), ZINCATI % f"http://{address}/")

    def test_another_service(self) -> None:
        address = self.service("locks", ports=[{"name": "http", "port": 8000}, {"name": "https", "port": 443}])
        self.assertEqual(self.told("--service", "default/locks"), ZINCATI % f"http://{address}:8000/")
        self.assertEqual(self.told("--service=default/locks", "--https"), ZINCATI % f"https://{address}/")

    def test_two_of_them(self) -> None:
        self.create("/api/v1/namespaces", "Namespace", "slipway-system")
        address = self.service("slipway-fleetlock", "slipway-system")
        self.assertEqual(self.told(), ZINCATI % f"http://{address}/")
        self.service("reboot-manager", "reboot-manager")
        self.wrong(1, "--service slipway-system/slipway-fleetlock or --service reboot-manager/reboot-manager", "export", "zincati", **self.env)

    def test_none(self) -> None:
        self.wrong(1, "there is no Service reboot-manager/reboot-manager, nor slipway-system/slipway-fleetlock", "export", "zincati", **self.env)
        self.wrong(1, "there is no Service default/nothing", "export", "zincati", "--service", "default/nothing", **self.env)
        self.service("headless", clusterIP="None")
        self.wrong(1, "has no cluster IP", "export", "zincati", "--service", "default/headless", **self.env)
        self.service("plain")
        self.wrong(1, "has no port 443, nor one that is called https", "export", "zincati", "--service", "default/plain", "--https", **self.env)

    def test_an_address(self) -> None:
        """No cluster is asked; the slash without which Zincati drops the last part is added."""
        env = {"KUBECONFIG": "/nonexistent"}
        for url in ("https://locks.example:8443/nodes", "https://locks.example:8443/nodes/"):
            self.assertEqual(self.good("export", "zincati", "--url", url, **env), ZINCATI % "https://locks.example:8443/nodes/")
        self.wrong(64, "/nonexistent", "export", "zincati", **env)

    def test_wrong_use(self) -> None:
        for flags, words in ((("--url", "locks.example"), "is no address"), (("--url=http://a/", "--https"), "--url goes neither"),
                             (("--service", "locks"), "is not NAMESPACE/NAME"), (("--service", "a/b/c"), "is not NAMESPACE/NAME"),
                             (("--service", "a/../b"), "is not NAMESPACE/NAME"), (("-o", "json"), "-o is for crds")):
            self.wrong(64, words, "export", "zincati", *flags, **self.env)
        self.wrong(64, "are for zincati", "export", "crds", "--https")


if __name__ == "__main__":
    tap.main()
