#!/bin/sh
# What a container engine does to one process: a tree of processes and a network of its own, a read-only root file system, one
# writable volume, a /tmp in memory, no capability. The process becomes process 1.
#
# Called as: unshare --mount --propagation private --net --pid --fork --kill-child container.sh FOLDER VOLUME TMP COMMAND…
#   FOLDER/root     the root file system
#   FOLDER/volume   what is mounted at VOLUME
#   TMP             mount options of /tmp
#   COMMAND         as found in that root file system
set -eu
folder=$1 volume=$2 tmp=$3
shift 3
mount --bind "$folder/root" "$folder/root"
cd "$folder/root"
mount --bind "$folder/volume" ".$volume"
mount -t tmpfs -o "mode=1777,$tmp" tmpfs tmp
mount -t proc proc proc
for name in null urandom; do
  : >"dev/$name"
  mount --bind "/dev/$name" "dev/$name"
done
mount -o remount,bind,ro "$folder/root"
ip link set lo up
exec chroot . "$@"
