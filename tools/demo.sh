#!/bin/sh
# What `make demo` shows: demo.sh PROGRAM. It uses no cluster, not even one that is configured here.
set -eu
program=$1

show() {
    printf '\n$ slipway %s\n' "$*"
    "$program" "$@"
}

unset KUBECONFIG
show version
show help
cat <<'END'

This is as far as it goes without a cluster. A demonstration of a drain needs the simulated cluster
(`slipway sim`), which this version does not have. With a cluster and a kubeconfig at hand, see the
README for what works today.
END
