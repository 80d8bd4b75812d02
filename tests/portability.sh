#!/usr/bin/env bash
# The tests as other machines would run them: other instruction sets, thread counts, orders, and a path with a space.
# Usage: tests/portability.sh [pytest's arguments; without any, all tests that do not run the pipeline]
# SETTINGS chooses a part, as in SETTINGS="default spaced"; SEEDS are those of the orders.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
python=$PWD/.venv/bin/python
[ $# -gt 0 ] || set -- -m "not workflow"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=()

check() { # check NAME [VARIABLE=VALUE ...] -- pytest's arguments
    local name=$1 variables=()
    shift
    while [ "$1" != -- ]; do variables+=("$1"); shift; done
    shift
    printf '\n%s: %s\n' "$name" "${variables[*]}"
    env "${variables[@]}" "$python" -m pytest -q -p no:cacheprovider "$@" || failed+=("$name")
}

for setting in ${SETTINGS:-default avx2 sse41 threads orders spaced}; do
    case $setting in
    default) check default OMP_NUM_THREADS=1 ATEN_CPU_CAPABILITY=default -- "$@" ;;
    avx2) check avx2 OMP_NUM_THREADS=1 ATEN_CPU_CAPABILITY=avx2 -- "$@" ;;
    sse41) check sse41 OMP_NUM_THREADS=1 ONEDNN_MAX_CPU_ISA=SSE41 MKL_CBWR=COMPATIBLE OPENBLAS_CORETYPE=Nehalem -- "$@" ;;
    threads) check threads OMP_NUM_THREADS=2 -- "$@" ;;
    orders)
        for seed in ${SEEDS:-0 1 2 3 4 5 6 7 8 9}; do
            check "order $seed" OMP_NUM_THREADS=1 ORDER_SEED="$seed" PYTHONPATH=tests/ordering -- -p shuffle "$@"
        done
        ;;
    spaced)
        git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$scratch" 2>/dev/null
        mkdir "$scratch/a folder" && find "$scratch" -mindepth 1 -maxdepth 1 ! -name "a folder" -exec mv -t "$scratch/a folder" {} +
        ln -s "$PWD/.venv" "$scratch/a folder/.venv"
        (cd "$scratch/a folder" && OMP_NUM_THREADS=1 PYTHONPATH=$PWD/src "$python" -m pytest -q -p no:cacheprovider "$@") ||
            failed+=(spaced)
        ;;
    *) echo "error: SETTINGS has '$setting', which is none of default, avx2, sse41, threads, orders, spaced" && exit 2 ;;
    esac
done
[ ${#failed[@]} -eq 0 ] || { printf '\nfailed: %s\n' "${failed[*]}" && exit 1; }
