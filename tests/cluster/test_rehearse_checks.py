"""Rehearsals obey the checks: the systems of test_checks_drain.py on a real API server, each in a snapshot, and what a rehearsal makes of the
file alone is what a drain of the cluster makes of it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from checks_site import ALL, AT_ONCE, BLOCKED, DONE, REFUSED, Site
from context import Context, limit
from test_checks_drain import CASES

HUSH = "hush-hush-9f2"


def rehearse(site: Site, path: Path, node: str, code: int, *more: str) -> dict:
    done = site.ctx.run(site.ctx.slipway, "rehearse", node, "--snapshot", str(path), "--runs", "2", "-o", "json", *AT_ONCE, *more,
                        kubeconfig=path.parent / "nonexistent", timeout=120)
    assert done.returncode == code, f"{node}: status {done.returncode}, not {code}\n{done.stdout[-3000:]}-- stderr:\n{done.stderr}"
    return json.loads(done.stdout)


@limit(400)
def test_as_a_drain(ctx: Context) -> None:
    """What is denied is refused for the same reason; what waits, waits for the same thing, and for ever, since no operator is in the copy."""
    site = Site(ctx, ctx.private_cluster(controllers=False, kwok=False))
    site.install(ALL)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "s.json"
        for check, make in CASES.items():
            case = make(site)
            site.slipway("snapshot", "--out", str(path))
            if case.denied:
                node, evidence = case.denied
                said = rehearse(site, path, node, REFUSED)
                assert said["nodes"][0]["phase"] == "refused", said["nodes"]
                assert f"{check}: " in said["nodes"][0]["error"] and evidence in said["nodes"][0]["error"], said["nodes"]
                assert evidence in site.drain(node, code=REFUSED).stderr
            node, code, evidence = case.waits
            said = rehearse(site, path, node, BLOCKED)
            waits = [w for w in said["waits"] if w.get("check") == check]
            assert [(w["code"], w["endlessRuns"]) for w in waits] == [(code, 2)] and evidence in waits[0]["message"], said["waits"]
            assert said["basis"]["objectsNotSimulated"] == 0 and said["basis"]["objectsNotValid"] == 0, said["basis"]
            rehearse(site, path, node, DONE, "--skip-check", "all", "--reason", "a test")
            site.untouched(node, case.pods)
            site.clear()


@limit(200)
def test_nothing_else(ctx: Context) -> None:
    """Of custom resources a snapshot has what the checks read, and none of the rest."""
    site = Site(ctx, ctx.private_cluster(controllers=False, kwok=False))
    site.install(ALL)
    site.add("kubevirt.io/v1", "VirtualMachineInstance", "vm",
             spec={"evictionStrategy": "LiveMigrate", "volumes": [{"name": "i", "cloudInitNoCloud": {"userData": f"password: {HUSH}"}}]},
             status={"nodeName": "w1", "phase": "Running", "interfaces": [{"ipAddress": HUSH}]})
    site.add("postgresql.cnpg.io/v1", "Cluster", "db",
             spec={"instances": 1, "env": [{"name": "PGPASSWORD", "value": HUSH}], "postgresql": {"parameters": {"archive_command": HUSH}}},
             status={"instances": 1, "readyInstances": 1, "phase": "Cluster in healthy state"})
    site.add("longhorn.io/v1beta2", "Setting", "backup-target", value=f"cifs://{HUSH}@files")
    site.add("longhorn.io/v1beta2", "Setting", "node-drain-policy", value="allow-if-replica-is-stopped")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "s.json"
        done = site.slipway("snapshot", "--out", str(path))
        text = path.read_text()
        assert HUSH not in text and "PGPASSWORD" not in text, text
        assert all(word in text for word in ("LiveMigrate", "Cluster in healthy state", "allow-if-replica-is-stopped"))
        assert "virtualmachineinstances.kubevirt.io" in done.stdout and "backup-target" not in text, done.stdout
