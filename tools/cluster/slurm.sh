#!/usr/bin/env bash
# A Slurm cluster of two nodes on this host: `slurm.sh start FOLDER` and `slurm.sh stop FOLDER`. It needs root, and
# Debian's packages slurm-wlm and munge. Everything that it writes is in FOLDER, but for the link $LINK: jobs start
# without SLURM_CONF. A host that has a Slurm of its own is refused.
set -euo pipefail
verb=$1 folder=$2
LINK=/etc/slurm/slurm.conf
PATH="$PATH:/usr/sbin"

configure() {
    mkdir -p "$folder"/{state,spool1,spool2,munge}
    # Daemons refuse sockets and keys in folders that others may write to.
    chmod 711 "$folder" && chmod 755 "$folder/munge"
    head -c 1024 /dev/urandom >"$folder/munge/key" && chmod 400 "$folder/munge/key"
    local memory=$(($(awk '/MemTotal/ {print $2}' /proc/meminfo) / 1024 / 2))
    cat >"$folder/slurm.conf" <<EOF
ClusterName=befrl
SlurmctldHost=$(hostname)
SlurmctldPort=17817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_min_interval=200000,batch_sched_delay=0
ReturnToService=2
SlurmdTimeout=20
MinJobAge=600
JobRequeue=1
MpiDefault=none
NodeName=1 NodeAddr=127.0.0.1 NodeHostname=$(hostname) Port=17818 CPUs=$(nproc) RealMemory=$memory
NodeName=2 NodeAddr=127.0.0.1 NodeHostname=$(hostname) Port=17819 CPUs=$(nproc) RealMemory=$memory
PartitionName=main Nodes=1,2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
EOF
}

start() {
    for program in munged slurmctld slurmd sbatch; do
        command -v "$program" >/dev/null || { echo "$program is missing: install slurm-wlm and munge" >&2; exit 2; }
    done
    if [[ -e $LINK && $(readlink "$LINK") != "$folder/slurm.conf" ]]; then
        echo "$LINK exists: this host belongs to a cluster" >&2
        exit 2
    fi
    configure
    mkdir -p "${LINK%/*}" && ln -sf "$folder/slurm.conf" "$LINK"
    munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
        --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
    slurmctld -c
    node 1
    node 2
    for _ in $(seq 60); do
        [[ $(sinfo --noheader --states=idle --format=%D) == 2 ]] && return
        sleep 0.5
    done
    sinfo
    echo "the nodes did not come up: see $folder/*.log" >&2
    exit 1
}

node() { slurmd -N "$1"; }

stop() {
    for pid in "$folder"/slurmd*.pid "$folder/slurmctld.pid" "$folder/munge/pid"; do
        [[ -e $pid ]] && kill "$(cat "$pid")" 2>/dev/null || true
    done
    [[ $(readlink "$LINK") == "$folder/slurm.conf" ]] && rm "$LINK"
}

case $verb in
start | stop) "$verb" ;;
node) node "$3" ;;
*) echo "slurm.sh: the verb is start, stop or node" >&2; exit 2 ;;
esac
