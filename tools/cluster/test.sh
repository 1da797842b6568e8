#!/usr/bin/env bash
# Run the smoke study on a Slurm of two nodes on this host, once undisturbed and once with the death of a node, and
# compare its tables and figures with those of a local run: they must be the same to the byte. Called by
# `make cluster-test`; it needs root, and installs Debian's slurm-wlm and munge if they are missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$(pwd)
PATH="$here/.venv/bin:$PATH"
slurm=$here/tools/cluster/slurm.sh
cluster=/tmp/befrl-slurm

step() { printf '\n== %s\n' "$*"; }

# The smoke study with its output in the folder build/cluster/$1.
config() {
    mkdir -p build/cluster
    sed "s|^output: .*|output: build/cluster/$1|" config/smoke.yaml >"build/cluster/$1.yaml"
    rm -rf "build/cluster/$1"
}

# The study of $1 on the cluster. There is no accounting, so that squeue tells what became of a job.
submit() {
    snakemake --profile workflow/profiles/slurm --slurm-status-command squeue --latency-wait 10 \
        --slurm-init-seconds-before-status-checks 5 --configfile "build/cluster/$1.yaml" >"build/cluster/$1.log" 2>&1
}

# Checksums of the tables and figures of $1, without measured seconds.
checksums() {
    (cd "build/cluster/$1" && find . -name '*.csv' ! -path './results/timings/*' -o -name '*.png' ! -name '*cost*' \
        ! -name table1.png | sort | xargs sha256sum)
}

same() {
    diff <(checksums local) <(checksums "$1") || { echo "$1 differs from the local run"; exit 1; }
    echo "$1: $(checksums "$1" | wc -l) tables and figures are the same to the byte;" \
        "$(grep -c 'has been submitted' "build/cluster/$1.log") submissions, $(grep -c 'Requeuing JobId' "$cluster/slurmctld.log" || true) requeued"
}

# The node $1 dies: its daemon and the keepers of its jobs first, which therefore report nothing, then the jobs.
kill_node() {
    local keepers="" jobs=""
    scontrol update nodename="$1" state=drain reason=test
    for job in $(squeue --nodelist="$1" --states=running --noheader --format=%i); do
        echo "running on node $1: job $job"
        for keeper in $(pgrep -f "slurmstepd: \[$job\."); do
            keepers="$keepers $keeper" jobs="$jobs $(descendants "$keeper")"
        done
    done
    kill -9 "$(cat "$cluster/slurmd$1.pid")" $keepers
    kill -9 $jobs 2>/dev/null || true
}

descendants() {
    for child in $(pgrep --parent "$1"); do
        echo "$child"
        descendants "$child"
    done
}

if ! command -v slurmctld >/dev/null && ! [ -x /usr/sbin/slurmctld ]; then
    step "install Debian's slurm-wlm and munge"
    apt-get install --yes --no-install-recommends slurm-wlm munge >/dev/null
fi
.venv/bin/python -m pip install --quiet --no-deps --require-hashes -r workflow/profiles/slurm/requirements.lock

step "a local run"
config local
snakemake --cores all --scheduler greedy --configfile build/cluster/local.yaml >build/cluster/local.log 2>&1

trap '"$slurm" stop "$cluster"' EXIT
step "two nodes"
"$slurm" start "$cluster"
sinfo
step "the study on the cluster"
config whole
submit whole
same whole

step "the study on the cluster, and a node dies"
config broken
submit broken &
study=$!
# Kill it while it works, so that a job is lost.
until squeue --nodelist=2 --states=running --noheader | grep -q .; do sleep 1; done
sleep 5
kill_node 2
wait $study
sinfo
same broken
