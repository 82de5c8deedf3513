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
    first=first
    case $1 in
    "$program") name=slipway ;;
    *) name=$1 ;;
    esac
    printf '\n$ %s' "$name"
    for word in "$@"; do
        case $first$word in
        first*) first= && continue ;;
        *[!A-Za-z0-9_./=,-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    out=$("$@" 2>&1) || {
        status=$?
        printf '%s\n' "$out"
        return "$status"
    }
    printf '%s\n' "$out" | awk -v n="$lines" -v last="${last:-0}" '{ line[NR] = $0 }
        END { for (i = 1; i <= NR && i <= n; i++) print line[i]
              if (NR > n + last) printf "... %d more lines\n", NR - n - last
              for (i = (NR > n + last ? NR - last : n) + 1; i <= NR; i++) print line[i] }'
}

# Inside of a simulated cluster: KUBECONFIG is set.
inside_healthy() {
    say 'What would happen if all fifty were drained, five at a time, each put back as soon as it is empty:'
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    cd "$place"
    last=6 show 8 "$program" plan drain -l kubernetes.io/os=linux --max-unavailable 5 --uncordon --out tonight.json
    say 'And so it does (time goes thirty times as fast there):'
    if [ -t 2 ]; then
        printf '\n$ slipway apply tonight.json\n'
        "$program" apply tonight.json >/dev/null
    else
        last=3 show 10 "$program" apply tonight.json --progress=plain
    fi
    say 'One of them, for longer:'
    show 4 "$program" status -l topology.kubernetes.io/zone=b -o wide
    show 100 "$program" status w7 -o 'jsonpath={.items[*].name} is {.items[*].phase}, {.items[*].podsToMove} pods would move'
    show 14 "$program" drain w1 --reason 'a new kernel'
    show 100 "$program" status w1
    show 100 "$program" uncordon w1
    if command -v kubectl >/dev/null; then
        say 'The same cluster to kubectl:'
        show 6 kubectl get nodes
        show 6 kubectl get deployments,statefulsets,poddisruptionbudgets -n shop-1
    else
        say 'With kubectl on PATH this would also show the same cluster through it.'
    fi
}

# A controller beside it, which carries out what is ordered.
inside_rolling() {
    place=$(mktemp -d)
    trap 'kill "$controller" 2>/dev/null; rm -rf "$place"' EXIT
    : >"$place/log" # it is looked into before the one in the background has opened it
    "$program" controller -v=2 2>"$place/log" &
    controller=$!
    tries=0
    until grep -q 'leads, in term' "$place/log" && grep -q 'the cluster is known' "$place/log"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 300 ]; then
            cat "$place/log"
            return 1
        fi
        sleep 0.1
    done
    order="reboot -l kubernetes.io/os=linux --name kernel --by sim"
    if [ -t 2 ]; then
        # shellcheck disable=SC2086 # its words
        printf '\n$ slipway %s --reason "a new kernel"\n' "$order"
        # shellcheck disable=SC2086
        "$program" $order --reason 'a new kernel' --wait
    else
        # shellcheck disable=SC2086
        last=3 show 12 "$program" $order --reason 'a new kernel' --wait
    fi
    say 'What is left of it to look at:'
    show 100 "$program" rollout
    show 100 "$program" locks
}

# The scenario happy with the definitions of Slipway's custom resources, and a policy for all of its nodes.
rolling_scenario() {
    cat "${0%/*}/../scenarios/happy.yaml"
    "$program" export crds -o 'jsonpath={range .items[*]}- {@}{"\n"}{end}'
    cat <<'END'
- apiVersion: slipway.dev/v1alpha1
  kind: Policy
  metadata: {name: workers}
  spec:
    nodeSelector: {matchLabels: {kubernetes.io/os: linux}}
    maxUnavailable: 10%
END
}

inside_stuck() {
    show 100 "$program" status
    say 'what a drain says that waits for them, until its patience ends (exit status 3),'
    printf '\n$ slipway drain w1 --timeout 5s\n'
    "$program" drain w1 --timeout 5s 2>&1 || [ $? = 3 ]
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
say "The same fleet with a controller and a policy, 'maxUnavailable: 10%': all fifty are rebooted, as many at a time as that allows."
scenario=$(mktemp)
rolling_scenario >"$scenario"
"$program" sim --scenario "$scenario" --nodes 50 --speed 60 -- "$0" "$program" rolling || status=$?
rm -f "$scenario"
[ "${status:-0}" = 0 ] || exit "$status"
say "One in trouble, 'slipway sim --scenario pdb-stuck': no budget there will ever allow an eviction. What status shows,"
"$program" sim --scenario pdb-stuck -- "$0" "$program" stuck
say 'There are more of these:'
show 100 "$program" sim --scenario help
cat <<'END'

To play: 'slipway sim', and then the lines that it prints. What is simulated how is in docs/simulator.md; with a cluster and a
kubeconfig at hand, see the README for what works there.
END
