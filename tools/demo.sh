#!/bin/sh
# What `make demo` shows: demo.sh PROGRAM. Everything happens in simulated clusters; a cluster that is configured here is not
# touched. kubectl is used where it is at hand, and not missed where it is not.
set -eu

say() {
    printf '\n%s\n' "$*"
}

# show N PROGRAM ARGUMENT...: a command and the first N lines of what it prints, which must be as good as its exit status.
show() {
    lines=$1
    shift
    case $1 in
    "$program") name=slipway ;;
    *) name=$1 ;;
    esac
    words="$*"
    printf '\n$ %s%s\n' "$name" "${words#"$1"}"
    out=$("$@" 2>&1) || {
        status=$?
        printf '%s\n' "$out"
        return "$status"
    }
    printf '%s\n' "$out" | awk -v n="$lines" 'NR <= n { print } END { if (NR > n) printf "... %d more lines\n", NR - n }'
}

# Inside of a simulated cluster: KUBECONFIG is set.
inside_healthy() {
    show 8 "$program" status
    show 4 "$program" status -l topology.kubernetes.io/zone=b -o wide
    show 100 "$program" status w7 -o 'jsonpath={.items[0]}'
    if command -v kubectl >/dev/null; then
        say 'The same cluster to kubectl, which can move pods today:'
        show 6 kubectl get nodes
        show 6 kubectl get deployments,statefulsets,poddisruptionbudgets -n shop-1
        show 12 kubectl drain w1 --ignore-daemonsets
        show 100 "$program" status w1
        show 100 kubectl uncordon w1
    else
        say 'With kubectl on PATH this would also show the same cluster through it.'
    fi
}

inside_stuck() {
    show 100 "$program" status
    say 'and what doctor says about the reason:'
    printf '\n$ slipway doctor | tail -n 7\n'
    "$program" doctor | tail -n 7
}

if [ "${2:-}" ]; then
    program=$1
    "inside_$2"
    exit
fi

program=$(realpath "$1")
unset KUBECONFIG
show 1 "$program" version
say "A simulated cluster of fifty nodes, made by 'slipway sim --nodes 50' in a moment:"
"$program" sim --nodes 50 --speed 30 -- "$0" "$program" healthy
say "One in trouble, 'slipway sim --scenario pdb-stuck': no budget there will ever allow an eviction. What status shows,"
"$program" sim --scenario pdb-stuck -- "$0" "$program" stuck
say 'There are more of these:'
show 100 "$program" sim --scenario help
cat <<'END'

This version looks; it cannot drain a node itself yet. To play: 'slipway sim', and then the lines that it prints. What is simulated
how is in docs/simulator.md; with a cluster and a kubeconfig at hand, see the README for what works there.
END
