# The workflow in its pinned environment:
#   docker build -t tensorldp . && docker run --name tensorldp tensorldp && docker cp tensorldp:/tensorldp/results results-of-docker
FROM python:3.11-slim-bookworm

# git, because results name the commit, and a compiler for the loop of small networks; Debian keeps no old version that could be pinned
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git g++ libc6-dev \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /tensorldp
COPY . .
RUN pip install --no-cache-dir -c envs/constraints.txt -e ".[pipeline]"

ENTRYPOINT ["snakemake", "--cores", "all"]
