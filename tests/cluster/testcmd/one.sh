#!/usr/bin/env bash
# Runs one function of Kubernetes' test/cmd in this process; testcmd.py has made the tree around it.
#
#   bash one.sh FUNCTION        in a directory that looks like the root of Kubernetes' sources
#
# SERVER is the API server's address, KUBECONFIG has a context "test" for it, SUPPORTED names the resources that it
# serves ("*": all).  REPORT is a file to write: "passed", or the line of the script at which the function ended.

# shellcheck disable=SC1091,SC2034  # the scripts are upstream's, and so are the variables

tput() { :; }  # colours, of which hack/lib/test.sh wants five

export KUBE_TEMP=$PWD/tmp HOME=$PWD/tmp
function_under_test=$1
source hack/lib/init.sh
source hack/lib/test.sh
source test/cmd/legacy-script.sh >/dev/null
SED="sed"
CONTEXT="test"
SECURE_API_PORT=${SERVER##*:}
read -ra SUPPORTED_RESOURCES <<<"${SUPPORTED}"

# The line of the script that was being executed, from inside a trap: $1 is that of the innermost frame.
where() {
  local i
  for ((i = 2; i < ${#FUNCNAME[@]}; i++)); do
    if [[ ${BASH_SOURCE[i]} == */test/cmd/* && ${BASH_SOURCE[i]} != */legacy-script.sh ]]; then
      echo "${BASH_SOURCE[i]##*/}:$( ((i == 2)) && echo "$1" || echo "${BASH_LINENO[i - 1]}")"
      return
    fi
  done
}

stopped="before its first line"
note() {
  if [[ $BASHPID == "$$" ]]; then  # not in a subshell, whose failure may be wanted
    stopped=$(where "$1")
  fi
}

finish() {
  local status=$?
  trap - ERR
  echo "${passed:-${stopped}}" >"${REPORT}"
  stop-proxy >/dev/null 2>&1
  exit "${status}"
}

# runTests sets dozens of variables that the functions use, then calls run_${WHAT}_tests by way of record_command, which
# would run it in a subshell and go on after a failure.
record_command() { "$@"; }

run_slipway_tests() {
  kube_flags_with_token=("${kube_flags[@]}")  # the one that upstream's server knows is not ours
  create_and_use_new_namespace  # some expect that the function before them has left one
  "${function_under_test}"
  passed="passed"
  exit 0
}

trap finish EXIT
trap 'note "${LINENO}"' ERR
set -o errtrace
WHAT="slipway"
runTests
