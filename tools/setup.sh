#!/bin/sh
# Makes sure that the Debian packages a task needs are there: setup.sh build|test|lint|fuzz|ci ...
#
# Missing ones are installed with apt-get, as root or through sudo; without the right to, the exact
# command is printed and the status is 1. When nothing is missing it asks dpkg once and touches
# neither the network nor anything else. POSIX sh, because on a fresh machine there is no more.
set -eu

# cmocka is part of `build`, so that one configured build directory serves `make` and `make test`.
build='gcc libc6-dev libcmocka-dev libcurl4-openssl-dev libevent-dev libjansson-dev libssl-dev
    libyaml-dev meson ninja-build pkgconf python3 zlib1g-dev'
# ClusterShell judges our node sets.
test="$build ca-certificates openssl python3-clustershell"
lint="$test clang-format clang-tidy git pyflakes3 shellcheck"
fuzz="$build clang libclang-rt-dev"
ci="$lint fish mandoc spin zsh" # a few tests are skipped without them

# Tests put their own in place of these.
lists=${SLIPWAY_APT_LISTS:-/var/lib/apt/lists}

say() {
    echo "setup: $*" >&2
}

wanted=
for set in "$@"; do
    case $set in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    lint) wanted="$wanted $lint" ;;
    fuzz) wanted="$wanted $fuzz" ;;
    ci) wanted="$wanted $ci" ;;
    *)
        say "there is no set of packages \"$set\": build, test, lint, fuzz or ci"
        exit 64
        ;;
    esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
    if command -v meson >/dev/null 2>&1; then
        exit 0 # another distribution, whose owner has brought the tools
    fi
    say "this is no Debian, so nothing can be installed here; needed are (by Debian's names):"
    # shellcheck disable=SC2086 # one word each
    say $wanted
    exit 1
fi

# shellcheck disable=SC2086,SC2016 # package names; ${...} is dpkg-query's own syntax
there=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null |
    sed -n 's/ installed$//p') || true
missing=
for package in $wanted; do
    case "
$there
$missing " in
    *"
$package
"* | *" $package "*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
as_root=
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    # Nobody can type a password where there is no terminal.
    [ -t 0 ] || as_root='sudo -n'
    if ! command -v sudo >/dev/null 2>&1 || ! $as_root true 2>/dev/null; then
        say "packages are missing and this user may not install them. As root, run:"
        say "  apt-get update && $install"
        exit 1
    fi
fi

apt() {
    # Waits for another apt instead of failing beside it.
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" >&2
}

install_missing() {
    # shellcheck disable=SC2086 # one word each
    apt install -y --no-install-recommends $missing
}

say "installing$missing"
if [ -z "$(find "$lists" -name '*_Packages*' 2>/dev/null | head -n 1)" ]; then
    apt update && install_missing && exit 0
else
    # Old lists name versions that the mirror no longer has.
    install_missing || { apt update && install_missing; } && exit 0
fi
say "apt-get failed, see above. Once it can reach its mirror, try again, or run as root:"
say "  apt-get update && $install"
exit 1
