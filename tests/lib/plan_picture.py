"""What src/engine/fit knows and says, for a comparison with the real kube-scheduler: the probe, and the objects that a scheduler decides by."""

from __future__ import annotations

import json

from api import Api, object_path
from cluster import Cluster
from context import Context

KINDS = (("v1", "Namespace", "/api/v1/namespaces"), ("v1", "Node", "/api/v1/nodes"), ("v1", "PersistentVolume", "/api/v1/persistentvolumes"),
         ("v1", "PersistentVolumeClaim", "/api/v1/persistentvolumeclaims"),
         ("storage.k8s.io/v1", "StorageClass", "/apis/storage.k8s.io/v1/storageclasses"),
         ("storage.k8s.io/v1", "CSINode", "/apis/storage.k8s.io/v1/csinodes"),
         ("storage.k8s.io/v1", "VolumeAttachment", "/apis/storage.k8s.io/v1/volumeattachments"), ("v1", "Pod", "/api/v1/pods"))


def objects(api: Api) -> list[dict]:
    """What the scheduler decides by."""
    found = []
    for version, kind, path in KINDS:
        for item in api.items(path):
            item["metadata"].pop("managedFields", None)
            found.append({"apiVersion": version, "kind": kind, **item})
    return found


class Picture:
    """The probe: what src/engine/fit knows and says."""

    def __init__(self, ctx: Context, cluster: Cluster) -> None:
        self.child = ctx.spawn(ctx.probe, "fit", kubeconfig=cluster.admin, stdin=True)
        self.ctx = ctx
        self.sent: dict[str, str] = {}
        self.heads: dict[str, dict] = {}

    def show(self, objects: list[dict]) -> None:
        """All that there is: what is new or has changed is put, what is missing is removed, in one go."""
        now = {object_path(o): o for o in objects}
        lines = []
        for path in [p for p in self.sent if p not in now]:
            del self.sent[path]
            lines.append("remove " + json.dumps(self.heads.pop(path)))
        for path, obj in now.items():
            text = json.dumps(obj)
            if self.sent.get(path) != text:
                self.sent[path] = text
                self.heads[path] = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": {
                    k: obj["metadata"][k] for k in ("name", "namespace") if k in obj["metadata"]}}
                lines.append("put " + text)
        self.child.write("".join(line + "\n" for line in lines))

    def question(self, line: str) -> dict:
        begin = len(self.child.out)
        self.child.write(line + "\n")

        def answered() -> bool:
            assert self.child.running or len(self.child.out) > begin, f"the probe has ended: {self.child.err[-5:]}"
            return len(self.child.out) > begin

        self.ctx.wait_for(answered, 20, f"an answer to {line[:80]}", interval=0.002)
        return json.loads(self.child.out[begin])

    def ask(self, pod: dict) -> dict:
        return self.question("ask " + json.dumps(pod))

    def bindings(self, node: str, pod: dict) -> dict:
        return self.question(f"bind {node} " + json.dumps(pod))

    def end(self) -> None:
        self.child.close_stdin()
        status = self.child.end(number=None)
        assert status == 0 and not self.child.err, (status, self.child.err)
