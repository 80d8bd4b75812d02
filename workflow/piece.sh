#!/usr/bin/env bash
# Run a piece of workflow/pieces/ in pieces/NAME of the working directory. Called again, it goes on where it stopped.
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
exec timeout --signal=INT --kill-after=60 "$((minutes * 60))" "${run[@]}" --rerun-incomplete -- results/metrics.parquet
