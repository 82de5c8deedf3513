"""Certificates and kubeconfig files of a test cluster, made with the openssl command (EC keys: a few ms each)."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path

DAYS = "2"


def openssl(*arguments: str | Path, text: str | None = None) -> str:
    done = subprocess.run(["openssl", *map(str, arguments)], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


class Authority:
    """A certificate authority in a directory of its own."""

    def __init__(self, directory: Path, name: str = "slipway-test-ca") -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.cert, self.key = directory / "ca.crt", directory / "ca.key"
        self._count = 0
        new_key(self.key)
        openssl("req", "-x509", "-new", "-key", self.key, "-subj", f"/CN={name}", "-days", DAYS, "-out", self.cert)

    def issue(self, common_name: str, groups: list[str] | tuple[str, ...] = (), hosts: list[str] | tuple[str, ...] = (),
              days: str = DAYS) -> tuple[Path, Path]:
        """A client certificate (user and groups), or a server's when hosts ('IP:127.0.0.1', 'DNS:x') are given."""
        self._count += 1
        stem = self.directory / f"{self._count:03d}-{common_name.replace('/', '_').replace(':', '_')}"
        cert, key = stem.with_suffix(".crt"), stem.with_suffix(".key")
        usage = "serverAuth" if hosts else "clientAuth"
        config = ["[req]", "distinguished_name=dn", "prompt=no", "[dn]", f"CN={common_name}"]
        config += [f"{i}.O={group}" for i, group in enumerate(groups)]
        config += ["[ext]", f"extendedKeyUsage={usage}", "keyUsage=digitalSignature", "basicConstraints=CA:FALSE"]
        if hosts:
            config.append("subjectAltName=" + ",".join(hosts))
        request = stem.with_suffix(".cnf")
        request.write_text("\n".join(config) + "\n")
        new_key(key)
        csr = openssl("req", "-new", "-key", key, "-config", request)
        openssl("x509", "-req", "-CA", self.cert, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                "-extfile", request, "-extensions", "ext", "-out", cert, text=csr)
        return cert, key


def new_key(path: Path) -> None:
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)
    path.chmod(0o600)


def key_pair(private: Path, public: Path) -> None:
    """The keys that sign and verify service-account tokens."""
    new_key(private)
    openssl("pkey", "-in", private, "-pubout", "-out", public)


def write_kubeconfig(path: Path, server: str, ca: Path | None, user: dict[str, object], inline: bool = True,
                     namespace: str | None = None) -> Path:
    """One cluster, one user, one context, all named 'test'.

    user: the user entry's keys; a Path under client-certificate, client-key becomes inline ...-data if inline is set.
    """
    cluster: dict[str, object] = {"server": server}
    if ca:
        cluster["certificate-authority"] = ca
    context = {"cluster": "test", "user": "test", **({"namespace": namespace} if namespace else {})}
    entries = [("clusters", "cluster", embed(cluster, inline)), ("users", "user", embed(user, inline)),
               ("contexts", "context", context)]
    lines = ["apiVersion: v1", "kind: Config", "current-context: test"]
    for plural, singular, values in entries:
        lines += [f"{plural}:", "- name: test", f"  {singular}:" + ("" if values else " {}")]
        lines += [f"    {key}: {json.dumps(value)}" for key, value in values.items()]  # JSON is YAML
    path.write_text("\n".join(lines) + "\n")
    path.chmod(0o600)
    return path


def embed(values: dict[str, object], inline: bool) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in values.items():
        if isinstance(value, Path):
            if inline:
                result[key + "-data"] = base64.b64encode(value.read_bytes()).decode()
            else:
                result[key] = str(value)
        else:
            result[key] = value
    return result
