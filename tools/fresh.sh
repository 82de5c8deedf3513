#!/bin/sh
# Proves that a fresh Debian 12 with nothing but make and git is enough: fresh.sh [--committed]
#
# Makes a minimal bookworm with debootstrap in a temporary directory, puts this tree into it (with
# --committed: only what is committed), and there runs
#   1. `make test` as a user who may not install packages: it must name the command and stop;
#   2. `make demo` and `make test` as root, which install what they need;
#   3. both again on a clean tree with the network cut off.
# Needs root, debootstrap, unshare and ip. The chroot uses the package sources of this machine when it
# is a bookworm itself, else Debian's own.
set -eu

suite=bookworm
top=$(cd "$(dirname "$0")/.." && pwd)

die() {
    echo "fresh: $*" >&2
    exit 1
}

step() {
    echo "=== fresh: $*"
}

[ "$(id -u)" = 0 ] || die "making a chroot needs root"
for tool in debootstrap unshare ip git tar chroot; do
    command -v $tool >/dev/null || die "$tool is missing: apt-get install debootstrap util-linux iproute2 git"
done
# Mounts live in a mount namespace of their own and end with it.
if [ "${FRESH_UNSHARED:-}" != 1 ]; then
    FRESH_UNSHARED=1 exec unshare --mount --propagation private "$0" "$@"
fi

root=$(mktemp -d "${TMPDIR:-/tmp}/slipway-fresh-XXXXXX")
chmod 755 "$root"
clean_up() {
    umount -R -l "$root/dev" "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

inside() { # inside [chroot's options] COMMAND: in the chroot, with an empty environment
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
        chroot "$@"
}

step "debootstrap $suite with make and git"
# shellcheck source=/dev/null
here=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mirror=
if [ "$here" = $suite ]; then
    # shellcheck disable=SC2016 # apt's own syntax
    mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
        sed -n "s/ $suite main\$//p" | head -n 1)
fi
proxy=$(apt-config shell p Acquire::http::Proxy | sed -n "s/^p='\(.*\)'\$/\1/p")
[ -z "$proxy" ] || export http_proxy="$proxy"
# shellcheck disable=SC2086 # without a mirror there is no argument
debootstrap --variant=minbase --include=make,git $suite "$root" $mirror >"$root.log" 2>&1 || {
    tail -n 20 "$root.log"
    rm -f "$root.log"
    die "debootstrap failed"
}
rm -f "$root.log"
if [ "$here" = $suite ]; then
    rm -rf "$root/etc/apt/sources.list" "$root/etc/apt/sources.list.d"
    for part in sources.list sources.list.d apt.conf.d keyrings trusted.gpg.d; do
        [ ! -e "/etc/apt/$part" ] || cp -a "/etc/apt/$part" "$root/etc/apt/"
    done
    cp -a /usr/share/keyrings/. "$root/usr/share/keyrings/"
fi
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
for tool in python3 meson ninja gcc cc pkg-config sudo; do
    ! inside "$root" sh -c "command -v $tool" >/dev/null || die "$tool is there: this is not fresh"
done

put_tree() { # a clean clone, and what is not committed yet on top of it
    rm -rf "$root/srv/slipway"
    git clone --quiet --no-hardlinks "$top" "$root/srv/slipway"
    [ "$1" != --committed ] || return 0
    git -C "$top" ls-files -z --deleted | (cd "$root/srv/slipway" && xargs -0 -r rm -f --)
    # shellcheck disable=SC2016 # expanded by the inner shell
    git -C "$top" ls-files -z --modified --others --exclude-standard |
        (cd "$top" && xargs -0 -r sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh) |
        tar -C "$top" --null -T - -cf - | tar -C "$root/srv/slipway" -xf -
}
put_tree "${1:-}"

# try COMMAND...: keeps the output in $root/out and shows its end, or all of it when it fails.
try() {
    status=0
    "$@" >"$root/out" 2>&1 || status=$?
    if [ $status = 0 ]; then
        tail -n 12 "$root/out"
    else
        cat "$root/out"
    fi | sed 's/^/    /'
    return $status
}

step "a user without rights is told what to do"
chmod -R a+rX "$root/srv/slipway"
if try inside --userspec=65534:65534 "$root" make -C /srv/slipway test; then
    die "make test as nobody succeeded"
fi
grep -q 'apt-get install -y --no-install-recommends .*meson' "$root/out" ||
    die "make test as nobody does not name the command"

run_both() { # run_both PREFIX...: make demo and make test
    try "$@" make -C /srv/slipway demo || die "make demo failed"
    grep -q 'Version' "$root/out" || die "make demo did not run the program"
    try "$@" make -C /srv/slipway test || die "make test failed"
    tail -n 2 "$root/out" | grep -Eq '^[0-9]+ passed, 0 failed(, [0-9]+ skipped)?$' ||
        die "make test does not end with its sum"
}

step "make demo and make test as root"
run_both inside "$root"

cut_off() { # in a network namespace that has only the loopback
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --net sh -c 'ip link set lo up && exec "$@"' sh env -i \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
        chroot "$root" "$@"
}

step "the same on a clean tree without network"
put_tree "${1:-}"
[ "$(cut_off cat /proc/net/route | wc -l)" = 1 ] || die "the network is not cut off"
run_both cut_off
step "ok"
