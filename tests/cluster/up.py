"""Keeps a real test cluster up for manual use, or runs one command in it.

    python3 tests/cluster/up.py --nodes 5
    python3 tests/cluster/up.py --nodes 5 -- build/slipway status

Prints the kubeconfig's path and stays until Ctrl-C; with a command runs that with KUBECONFIG set (and the directory of
kubectl at the head of PATH), and ends with its status.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys

from binaries import SKIP_STATUS, BuildFailed, Unavailable
from cluster import Cluster
from process import ClusterError, Died


def bounds(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high or low)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], usage="%(prog)s [options] [-- COMMAND ...]")
    parser.add_argument("--nodes", type=int, default=0, metavar="N", help="fake nodes to begin with")
    parser.add_argument("--apiservers", type=int, default=1, metavar="N", help="kube-apiservers on the one etcd")
    parser.add_argument("--no-controllers", action="store_true", help="no kube-controller-manager, no kube-scheduler")
    parser.add_argument("--no-kwok", action="store_true", help="no fake kubelets")
    parser.add_argument("--pod-ready-ms", type=bounds, default=(0, 0), metavar="MIN-MAX", help="how slowly pods start")
    parser.add_argument("--pod-gone-ms", type=bounds, default=(0, 0), metavar="MIN-MAX", help="how slowly pods end")
    parser.add_argument("--apiserver-flag", action="append", default=[], metavar="FLAG", help="e.g. --v=4; may repeat")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins with it ignored
    try:
        with Cluster(apiservers=arguments.apiservers, controllers=not arguments.no_controllers,
                     kwok=not arguments.no_kwok, pod_ready_ms=arguments.pod_ready_ms,
                     pod_gone_ms=arguments.pod_gone_ms, apiserver_flags=arguments.apiserver_flag) as cluster:
            if arguments.nodes:
                cluster.add_nodes(arguments.nodes)
            return use(cluster, arguments.command)
    except Unavailable as reason:
        print(f"# skipped: {reason}", file=sys.stderr)
        return SKIP_STATUS
    except (BuildFailed, ClusterError, Died) as reason:
        print(f"# {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def use(cluster: Cluster, command: list[str]) -> int:
    kubectl = cluster.binaries.path("kubectl")
    if command:
        env = {**os.environ, "KUBECONFIG": str(cluster.admin), "PATH": f"{kubectl.parent}:{os.environ['PATH']}"}
        return subprocess.run(command, env=env).returncode
    print(f"export KUBECONFIG={cluster.admin}")
    print(f"export PATH={kubectl.parent}:$PATH")
    for index, name in enumerate(cluster.server_names):
        print(f"# {name}: {cluster.server(index)}, pid {cluster[name].pid}")
    print(f"# etcd: {cluster.etcd_url}; logs: {cluster.logs}; Ctrl-C ends it", flush=True)
    signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main())
