#!/bin/sh
# Fuzzes: tools/fuzz.sh [TARGET ...], all of fuzz/ by default, each for FUZZ_SECONDS (60).
#
# Builds the targets with clang's libFuzzer and the sanitizers in build-fuzz. What a run learns stays in
# build-fuzz/corpus and is where the next one begins. An input that breaks something is left in
# build-fuzz/found: once it is mended, put it into fuzz/corpus/TARGET, which `make test` runs.
set -eu
cd "$(dirname "$0")/.."

seconds=${FUZZ_SECONDS:-60}
build='build-fuzz'
if ! command -v clang >/dev/null 2>&1; then
    echo "fuzz: clang is missing: apt-get install clang" >&2
    exit 1
fi
if [ ! -e $build/build.ninja ]; then
    CC=clang meson setup $build -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
        -Dc_args='-fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined'
fi
if [ $# -eq 0 ]; then
    for directory in fuzz/corpus/*; do
        set -- "$@" "${directory##*/}"
    done
fi
for target; do
    ninja -C $build "fuzz/fuzz-$target"
done
python3 fuzz/seeds.py $build/seeds
mkdir -p $build/found
status=0
for target; do
    mkdir -p "$build/corpus/$target" "$build/seeds/$target"
    echo "fuzz: $target for $seconds seconds"
    # Memory: the decoders hold at most CODEC_ROOM and what came in, the sanitizers a multiple of that.
    nice -n 10 "$build/fuzz/fuzz-$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
        -artifact_prefix="$build/found/$target-" -print_final_stats=1 -verbosity=0 \
        "$build/corpus/$target" "$build/seeds/$target" "fuzz/corpus/$target" || status=1
done
if [ $status -ne 0 ]; then
    echo "fuzz: something was found, see $build/found" >&2
fi
exit $status
