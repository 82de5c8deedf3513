"""Verbs that only read, for somebody who may not read everything: each permission that is missing is named, with its verb and its
resource, all of them at once, and as what was asked for.

The judge is the API server: what it has refused is in its words.
"""

from __future__ import annotations

import subprocess

from context import Context, limit
from drain_ground import ACCESS, BLOCKED, DONE, Ground
from objects import deployment

KINDS = {"nodes": "", "pods": "", "namespaces": "", "events": "", "configmaps": "", "resourcequotas": "", "serviceaccounts": "",
         "poddisruptionbudgets": "policy", "replicasets": "apps", "statefulsets": "apps"}


class Reader:
    """Somebody who may read all of that, but for some kinds."""

    def __init__(self, g: Ground, *without: str) -> None:
        self.g = g
        self.name = g.ctx.unique("reader")
        g.grant(self.name, *({"apiGroups": [group], "resources": [kind], "verbs": ["get", "list", "watch"]}
                             for kind, group in KINDS.items() if kind not in without))

    def run(self, *words: str, code: int = ACCESS) -> subprocess.CompletedProcess:
        admin = self.g.cluster.kubeconfig(user="reading-admin", groups=["system:masters"])
        done = self.g.ctx.run(self.g.ctx.slipway, *words, "--as", self.name, kubeconfig=admin)
        assert done.returncode == code, f"{words}: {done.returncode}, not {code}\n{done.stdout}-- stderr:\n{done.stderr}"
        return done

    def refused(self, verb: str, kind: str) -> str:
        return f'User "{self.name}" cannot {verb} resource "{kind}" in API group "{KINDS[kind]}"'


@limit(180)
def test_what_is_missing_is_named(ctx: Context) -> None:
    """Of a name that may be a node or a pod, the node first."""
    with Ground(ctx, nodes=1) as g:
        node = g.nodes[0]
        someone = Reader(g, "nodes", "pods")
        for name in (node, "nobody"):
            done = someone.run("why", name)
            assert done.stderr.startswith("error: cannot get nodes: "), done.stderr
            said = done.stderr.split("; nor pods, ")
            assert len(said) == 2 and someone.refused("get", "nodes") in said[0] and someone.refused("get", "pods") in said[1], said
        done = someone.run("why", f"node/{node}")
        assert someone.refused("get", "nodes") in done.stderr and '"pods"' not in done.stderr, done.stderr
        done = someone.run("why", "pod/web")
        assert someone.refused("get", "pods") in done.stderr and '"nodes"' not in done.stderr, done.stderr
        done = someone.run("why", "deployment/web")
        assert done.stderr.splitlines()[1].startswith("deployment/web was read as a pod and its namespace"), done.stderr

        someone = Reader(g, "pods")
        done = someone.run("why", "nobody")
        assert done.stderr.startswith('error: there is no node "nobody", and whether there is such a pod is not known: cannot get pods: ')
        assert someone.refused("get", "pods") in done.stderr, done.stderr
        done = someone.run("why", node, code=BLOCKED)
        assert "Forbidden the pods of the node cannot be listed" in done.stdout and not done.stderr, (done.stdout, done.stderr)


@limit(180)
def test_all_that_is_missing_is_named_at_once(ctx: Context) -> None:
    """Not the one that was refused first: who asks for it, and gets it, would be back for the next."""
    with Ground(ctx, nodes=1) as g:
        g.place(0, deployment("web", g.ns, 1, **g.here))
        someone = Reader(g, "pods", "poddisruptionbudgets", "configmaps")
        for words in (["plan", g.nodes[0]], ["doctor", "--pdbs"]):
            done = someone.run(*words)
            errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
            for kind, error in zip(("pods", "poddisruptionbudgets"), errors, strict=True):
                assert error.startswith(f"error: cannot list {kind}: ") and someone.refused("list", kind) in error, done.stderr
            assert "configmaps" not in done.stderr, done.stderr  # which can be done without
        done = someone.run("status", code=DONE)
        for kind in ("pods", "poddisruptionbudgets", "configmaps"):
            said = [line for line in done.stderr.splitlines() if line.startswith(f"cannot list {kind}: ")]
            assert len(said) == 1 and someone.refused("list", kind) in said[0], done.stderr
        assert "Pods could not be read" in done.stdout, done.stdout
