#!/bin/sh
# A small machine of its own: systemd as process 1 in namespaces, with a fresh root file system over this system's /usr, and
# nothing of it in the host's files, units or control groups. It shares the host's network.
#
# Called as: unshare --mount --propagation private machine.sh FOLDER
#   FOLDER/files    what an operator has: read-only at /files
#   FOLDER/units    units beside the standard targets, which systemd starts from
#   FOLDER/ready    a pipe that is written to once systemd has started
# It ends, and cleans up, when process 1 is killed; each process is killed with the one that started it.
set -eu
folder=$1
groups=$folder/groups
mkdir "$groups" "$folder/root"
mount -t cgroup2 cgroup2 "$groups"
own=$groups/mayfly-test-$$
mkdir "$own"

root=$folder/root
mount -t tmpfs -o mode=755 tmpfs "$root"
cd "$root"
mkdir -p usr etc/systemd/system var/lib proc sys dev run tmp root files old mnt
for name in bin lib lib64 sbin; do [ ! -L "/$name" ] || cp -P "/$name" "$name"; done
mount --rbind /usr usr
mount -o remount,bind,ro usr
mount -t tmpfs tmpfs usr/local
mkdir -p usr/local/bin usr/local/sbin
# As many machines have it.
mount -t tmpfs -o mode=1777,noexec,nosuid,nodev tmpfs tmp
mount --rbind /dev dev
mount --bind "$folder/files" files
mount -o remount,bind,ro files
mount --bind "$folder" mnt
for name in passwd group shadow gshadow nsswitch.conf ld.so.cache ld.so.conf login.defs hosts resolv.conf; do
  [ ! -e "/etc/$name" ] || cp -L "/etc/$name" etc/
done
cp "$folder"/units/* etc/systemd/system/
cp /usr/lib/systemd/system/dbus.service /usr/lib/systemd/system/dbus.socket etc/systemd/system/

# The rest runs in the new namespaces, inside the control group that becomes their root.
inside='
  mount -t proc proc proc
  mount -t sysfs sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs run
  mkdir run/systemd run/systemd/system
  pivot_root . old
  umount -l /old
  exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin container=test \
    SYSTEMD_UNIT_PATH=/etc/systemd/system:/run/systemd/transient:/run/packaged \
    /usr/lib/systemd/systemd --system --unit=machine.target --log-target=console --show-status=no
'
status=0
sh -c 'echo $$ >"$1/cgroup.procs"
  exec setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child --uts --ipc --cgroup sh -ec "$2"' \
  sh "$own" "$inside" || status=$?
find "$own" -depth -type d -exec rmdir {} +
exit "$status"
