#!/usr/bin/env bash
# Snakemake 9.27.1 evaluates a default resource as Python where it can: an account that is written with digits reaches a
# job, and so a scheduler, as another text, without a warning. Guessed: a text resource arrives as it was typed.
# Seen: 012345 -> 12345, 1_234 -> 1234, 1e5 -> 100000; proj-1 stays; quotes inside, '012345', keep the digits.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "snakemake==9.27.1"
cd "$folder"
cat > Snakefile << 'RULES'
rule all:
    output: "account.txt"
    shell: "echo {resources.slurm_account} > {output}"
RULES
status=0
while read -r typed expected; do
  rm -f account.txt
  "$folder/venv/bin/snakemake" --cores 1 --quiet all --default-resources "slurm_account=$typed" > log.txt 2>&1
  seen=$(cat account.txt)
  echo "slurm_account=$typed -> $seen"
  [ "$seen" = "$expected" ] || { echo "changed: $expected was seen before"; status=1; }
done << 'CASES'
012345 12345
1_234 1234
1e5 100000
proj-1 proj-1
'012345' 012345
CASES
exit "$status"
