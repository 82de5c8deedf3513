"""`slipway export crds`: the definitions, word for word, in each format.

    SLIPWAY_GOLDEN=write python3 tests/cli/test_export.py; git diff tests/cli/golden/crds.yaml

What servers make of them: tests/cluster/test_conformance_resources.py.
"""

from __future__ import annotations

import json
import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tap  # noqa: E402
from program import TOP, on_terminal, run  # noqa: E402

GOLDEN = TOP / "tests" / "cli" / "golden" / "crds.yaml"


class Export(unittest.TestCase):
    def good(self, *args: str, **env: str | None) -> str:
        done = run("export", *args, **env)
        self.assertEqual((done.code, done.err), (0, ""), args)
        return done.out

    def test_yaml(self) -> None:
        out = self.good("crds")
        if os.environ.get("SLIPWAY_GOLDEN") == "write":
            GOLDEN.write_text(out)
        self.assertEqual(out, GOLDEN.read_text(), "SLIPWAY_GOLDEN=write writes it anew")
        self.assertEqual(self.good("crds", "-o", "yaml"), out)
        self.assertEqual(len(out.split("---\n")), 3)

    def test_json(self) -> None:
        told = json.loads(self.good("crds", "-o", "json"))
        self.assertEqual((told["apiVersion"], told["kind"]), ("v1", "List"))
        self.assertEqual([item["metadata"]["name"] for item in told["items"]],
                         ["policies.slipway.dev", "maintenances.slipway.dev", "rollouts.slipway.dev"])
        for item in told["items"]:
            self.assertEqual((item["apiVersion"], item["kind"]), ("apiextensions.k8s.io/v1", "CustomResourceDefinition"))
        self.assertEqual(self.good("crds", "-o", "jsonpath={.items[*].spec.names.shortNames[0]}"), "swpol swm swr")

    def test_needs_nothing(self) -> None:
        """No cluster, no configuration, no colours; nothing that depends on where it runs."""
        plain = self.good("crds", KUBECONFIG="/nonexistent", HOME=None)
        self.assertEqual(plain, self.good("crds", "--context", "nowhere", "--color=always"))
        shown = on_terminal("export", "crds", columns=40, PAGER="cat")
        self.assertEqual((shown.code, shown.out), (0, plain))

    def test_wrong_use(self) -> None:
        for args, words in ((("crd",), '"crd" is not one of crds|zincati (did you mean "crds"?)'),
                            (("dashboards",), '"dashboards" is not one of crds|zincati'),
                            ((), "slipway export needs crds"), (("crds", "crds"), "crds"),
                            (("crds", "-o", "wide"), "wide")):
            done = run("export", *args)
            self.assertEqual((done.code, done.out), (64, ""), args)
            self.assertIn(words, done.err)

    def test_says_who_obeys(self) -> None:
        """Whoever installs the definitions is told what they are for."""
        told = " ".join(run("export", "--help").out.split())
        self.assertIn("The custom resources are for the controller ('slipway install' prints what makes it run)", told)
        self.assertIn("zincati", told)
        page = " ".join((TOP / "docs" / "resources.md").read_text().split())
        self.assertIn("the controller obeys the others", page)

    def test_fields_without_anybody(self) -> None:
        """Those of later releases: a field that is there is a promise."""
        names = set(re.findall(r"^ +(\w+):$", self.good("crds"), re.M))
        self.assertLessEqual({"maxUnavailable", "fleetlock", "executor"}, names)
        self.assertFalse(names & {"windows", "freezes", "gates", "hooks", "notifications"})


if __name__ == "__main__":
    tap.main()
