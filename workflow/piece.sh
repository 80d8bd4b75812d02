#!/usr/bin/env bash
# Run a piece of workflow/pieces/ in pieces/NAME of the working directory, one seed after the other, so that what is
# stopped has whole seeds. Called again, it goes on where it stopped.
# usage: [CORES=n] [SLOTS=n] workflow/piece.sh NAME [MINUTES]
# minutes: stop then with code 124 and keep what is done; 0, as without: run to the end. SLOTS: jobs that share a GPU.
set -euo pipefail
name=${1:?give the name of a file in workflow/pieces/} minutes=${2:-0}
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
settings=$home/workflow/pieces/$name.yaml
[[ -f $settings ]] || { echo "error: no piece $name, there are: $(cd "$home/workflow/pieces" && echo *.yaml | sed 's/\.yaml//g')" >&2; exit 2; }
mkdir -p "pieces/$name"
cp "$settings" "pieces/$name/config.yaml"
run=(snakemake --cores "${CORES:-all}" ${SLOTS:+--resources "gpu=$SLOTS"} -s "$home/Snakefile" --directory "pieces/$name")
exec 9> "pieces/$name/.held"
flock --nonblock 9 || { echo "error: the piece $name is running already" >&2; exit 1; }
"${run[@]}" --unlock > /dev/null 2>&1 || true # a run that was killed leaves Snakemake's lock
ends=$((SECONDS + minutes * 60))
compute() { # what there is time for, with these options of Snakemake
    local left=0
    ((minutes == 0)) || left=$((ends - SECONDS))
    ((minutes == 0 || left > 0)) || exit 124
    timeout --signal=INT --kill-after=60 "$left" "${run[@]}" --rerun-incomplete "$@" -- results/metrics.parquet
}
seeds="" all=$(sed -n 's/^seeds: *\[\(.*\)\]$/\1/p' "$settings" | tr ',' ' ')
for seed in ${all:?"$settings lacks a line such as seeds: [0, 1]"}; do
    seeds=${seeds:+$seeds,}$seed
    compute --config "seeds=[$seeds]"
done
