#!/usr/bin/env bash
# One-node SLURM without systemd, for tests:  slurm.sh install | start FOLDER | nodes | slurmd FOLDER | stop FOLDER
# Needs root and Debian's slurm-wlm. Keys, state, logs and pid files lie in FOLDER; only two links go into /etc/slurm,
# because the jobstep plugin drops SLURM_CONF from the environment of its srun. The node has four CPUs (whatever the
# machine has) and one GPU that is /dev/null: SLURM schedules it, CUDA does not see it. Exit code 3: not possible here.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
unset SLURM_CONF
etc=/etc/slurm

impossible() { echo "$1" >&2; exit 3; }

alive() { readlink "/proc/$1/exe" > /dev/null; }  # unlike kill -0, false for a zombie that nobody reaps

running() { [ -s "$1" ] && alive "$(cat "$1")"; }

install() {
  [ "$(id -u)" = 0 ] || impossible "a test cluster needs root"
  command -v slurmctld && command -v slurmd && command -v munged && return
  command -v apt-get || impossible "slurm-wlm is not installed and there is no apt-get"
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends slurm-wlm munge; } \
    || impossible "apt-get cannot install slurm-wlm"
}

configure() {  # configure FOLDER
  local dir=$1 host file
  host=$(hostname -s)
  for file in slurm.conf gres.conf cgroup.conf; do
    [ -e "$etc/$file" ] && impossible "$etc/$file belongs to another cluster"
  done
  mkdir -p "$dir"/{ctl,node,munge}
  chmod 711 "$dir/munge"
  (umask 077 && head -c 256 /dev/urandom > "$dir/munge/key")
  echo "NodeName=$host Name=gpu File=/dev/null" > "$dir/gres.conf"
  cat > "$dir/slurm.conf" << END
ClusterName=tensorldp
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=17817
SlurmdPort=17818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdPidFile=$dir/slurmd.pid
SlurmdLogFile=$dir/slurmd.log
StateSaveLocation=$dir/ctl
SlurmdSpoolDir=$dir/node
# nothing that a container may forbid: no cgroups, no binding to cores
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
# CPUs, memory and the GPU are all counted
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=500
GresTypes=gpu
# no data base: squeue answers for jobs that ended up to MinJobAge seconds ago
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill
MinJobAge=600
# jobs start at once, and what can never start is refused
EnforcePartLimits=ALL
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,bf_interval=2
KillWait=2
ReturnToService=2
SlurmdParameters=config_overrides
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=16000 Gres=gpu:1
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE
END
  mkdir -p "$etc"
  ln -s "$dir/slurm.conf" "$dir/gres.conf" "$etc/"
}

nodes() { sinfo --noheader --format='%T %c %m %G'; }

wait_idle() {  # wait_idle FOLDER
  for _ in $(seq 300); do
    case $(nodes 2> /dev/null) in idle*) nodes && return ;; esac
    sleep 0.1
  done
  tail -n 15 "$1"/slurm*.log >&2
  impossible "the cluster did not come up"
}

start() {  # start FOLDER
  stop "$1"
  rm -rf "$1"
  mkdir -p "$1" && chmod 755 "$1"
  configure "$1"
  munged --socket="$1/munge/socket" --key-file="$1/munge/key" --seed-file="$1/munge/seed" \
    --pid-file="$1/munged.pid" --log-file="$1/munge/log"
  slurmctld
  slurmd
  wait_idle "$1"
}

stop() {  # stop FOLDER: its jobs, its daemons (by their pid files) and its links
  if running "$1/slurmctld.pid" && running "$1/slurmd.pid" && timeout 10 scancel --user root; then
    for _ in $(seq 30); do [ -n "$(timeout 10 squeue --noheader)" ] || break; sleep 0.1; done
  fi
  local name pid
  for name in slurmd slurmctld munged; do
    running "$1/$name.pid" || continue
    pid=$(cat "$1/$name.pid")
    kill "$pid"
    for _ in $(seq 100); do alive "$pid" || break; sleep 0.1; done
    if alive "$pid"; then kill -9 "$pid"; fi
    rm -f "$1/$name.pid"
  done
  for name in slurm.conf gres.conf; do
    if [ "$(readlink "$etc/$name")" = "$1/$name" ]; then rm "$etc/$name"; fi
  done
  rmdir "$etc" 2> /dev/null || true
}

case ${1:-} in
  install) install > /dev/null ;;
  start) start "$2" ;;
  nodes) nodes ;;
  slurmd) slurmd && wait_idle "$2" ;;
  stop) stop "$2" ;;
  *) sed -n 2,5p "$0" >&2; exit 2 ;;
esac
