#!/usr/bin/env bash
# Snakemake 9.27.1 compares parameters and code only of files that .snakemake has a record of. Results that are copied
# without that folder are up to date whatever the configuration says; where nothing else runs, no line tells of it.
# Guessed: what has no record is made again, or the run says that it cannot know.
# Seen: steps=1 -> trained with 1; steps=5 -> trained with 5; steps=5 on the copy -> trained with 1, "Nothing to be done".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "snakemake==9.27.1"
mkdir "$folder/first"
cd "$folder/first"
cat > Snakefile << 'RULES'
rule train:
    output: "model.txt"
    params: steps=config["steps"]
    shell: "echo trained with {params.steps} > {output}"
RULES
run() { "$folder/venv/bin/snakemake" --cores 1 --config "steps=$1" > log.txt 2>&1; }
status=0
compare() {
  echo "$1 -> $2"
  [ "$2" = "$3" ] || { echo "changed: $3 was seen before"; status=1; }
}
run 1
compare "steps=1" "$(cat model.txt)" "trained with 1"
mkdir ../copy
cp -p Snakefile model.txt ../copy
run 5
compare "steps=5, with the record" "$(cat model.txt)" "trained with 5"
cd ../copy
run 5
compare "steps=5, copied without the record" "$(cat model.txt)" "trained with 1"
compare "what it says" "$(grep -o 'Nothing to be done' log.txt)" "Nothing to be done"
compare "lines on what is missing" "$(grep -c -i 'metadata\|provenance' log.txt || true)" "0"
exit "$status"
