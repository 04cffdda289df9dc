#!/bin/busybox sh
# First process of the virtual machine, from its initramfs: mounts, sets the address, asks its keeper on the host what to
# run, runs that as a user without rights, and turns the machine off when it has ended. Everything here is root of a
# machine that holds one workload and nothing else. The keeper's side: ../keeper/guest-channel.ts.
/bin/busybox mkdir -p /proc /sys /dev /run /root
/bin/busybox mount -t devtmpfs dev /dev
exec </dev/null >/dev/console 2>&1
/bin/busybox --install -s /bin
export PATH=/bin
umask 022
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs -o mode=0755,size=8m run /run

off() { sync; reboot -f; }
fail() { echo "platform: $1"; off; }

# The order matters; a kernel that has one of them built in brings no file for it.
for module in virtio_ring virtio virtio_mmio virtio_blk failover net_failover virtio_net libcrc32c erofs; do
  [ ! -e /modules/$module.ko ] || insmod /modules/$module.ko || fail "the module $module does not load"
done

host=10.181.0.1
# QEMU gives each disk a serial number that is its name; Firecracker's keeper says which is which.
for disk in /sys/block/vd*; do
  case $(cat $disk/serial 2>/dev/null) in
    base) base=/dev/${disk##*/} ;;
    app) app=/dev/${disk##*/} ;;
    volume) volume=/dev/${disk##*/} ;;
  esac
done
for word in $(cat /proc/cmdline); do
  case $word in
    platform.base=*) base=/dev/${word#*=} ;;
    platform.app=*) app=/dev/${word#*=} ;;
    platform.volume=*) volume=/dev/${word#*=} ;;
  esac
done

ip link set lo up
ip addr add 10.181.0.2/30 dev eth0 && ip link set eth0 up || fail 'there is no network device'
ip route add default via $host
echo 1 > /proc/sys/kernel/dmesg_restrict
echo 2 > /proc/sys/kernel/kptr_restrict
echo 1 > /proc/sys/kernel/modules_disabled

# Three ways to the keeper besides the order: what it says, and what the workload says on its two outputs.
mkfifo /run/tell /run/hear /run/out /run/err
exec 4<>/run/tell 5<>/run/hear
nc $host 7000 <&4 >&5 &
nc $host 7001 </run/out >/dev/null &
out=$!
nc $host 7002 </run/err >/dev/null &
err=$!

mount -t erofs -o ro,nosuid,nodev "${base:-}" /root || fail 'the base image cannot be mounted'
mount -t erofs -o ro,nosuid,nodev "${app:-}" /root/app || fail 'the package cannot be mounted'
mount -t proc -o nosuid,nodev,noexec,hidepid=2 proc /root/proc
mount -t tmpfs -o mode=0755,size=64k,nosuid,noexec dev /root/dev
(umask 0; cd /root/dev; mknod null c 1 3; mknod zero c 1 5; mknod full c 1 7; mknod random c 1 8; mknod urandom c 1 9)
mkdir /root/dev/shm
ln -s /proc/self/fd /root/dev/fd
ln -s /proc/self/fd/0 /root/dev/stdin
ln -s /proc/self/fd/1 /root/dev/stdout
ln -s /proc/self/fd/2 /root/dev/stderr
mount -t tmpfs -o mode=1777,size=16m,nosuid,nodev shm /root/dev/shm
mount -o remount,ro,nosuid,noexec /root/dev
if [ -n "${volume:-}" ]; then
  mount -t ext4 -o nosuid,nodev "$volume" /root/volume || fail 'the volume cannot be mounted'
  # Whatever the host calls its owner.
  chown 1000:1000 /root/volume
fi

nc $host 7003 </dev/null >/run/order || fail 'the keeper gave no order'
{ read -r memory pids scratch runtime; read -r options; read -r entry; read -r servers; } </run/order
# Node runs a script itself, and an executable by the platform's script for that.
[ "$runtime" = binary ] && runner=/opt/platform/run-executable.mjs || runner=
mkdir /run/workload
resolver() { for server in $1; do echo "nameserver $server"; done > /run/workload/resolv.conf; }
# There before its first code runs, where the owner has granted the internet.
resolver "$servers"
tail -n +5 /run/order >/run/workload/order.json
rm /run/order
mount -o bind /run/workload /root/run
mount -o remount,bind,ro,nosuid,nodev,noexec /root/run
mount -t tmpfs -o "mode=1777,size=$scratch,nosuid,nodev" tmp /root/tmp

mount -t cgroup2 none /sys/fs/cgroup
group=/sys/fs/cgroup/workload
echo '+memory +pids' > /sys/fs/cgroup/cgroup.subtree_control
mkdir $group
echo "$memory" > $group/memory.max
echo "$pids" > $group/pids.max
echo 1 > $group/memory.oom.group

sh -c '
  echo 0 > /sys/fs/cgroup/workload/cgroup.procs
  exec env -i PATH=/opt/platform/bin:/usr/bin:/bin PLATFORM_BOOTSTRAP=guest \
    chroot /root /bin/setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs \
    --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- \
    /opt/platform/bin/node $2 --import /opt/platform/guest.mjs $3 "/app/$1"
' start "$entry" "$options" "$runner" >/run/out 2>/run/err 4>&- 5>&- &
workload=$!

# What the keeper may ask for while it runs.
while read -r word rest <&5; do
  case $word in
    resolver) resolver "$rest" ;;
    # A process that does not end in time is killed with the machine: what it has written by now is kept.
    stop) kill -TERM $workload; sync & ;;
    ports) echo "ports $(awk '$4 == "0A" { split($2, a, ":"); printf "%s ", a[2] }' /proc/net/tcp)" >&4 ;;
  esac
done &
asked=$!

wait $workload
code=$?
kill $asked 2>/dev/null
echo 1 > $group/cgroup.kill
# Both outputs end when nobody can write to them any more.
wait $out $err
kills=$(awk '$1 == "oom_kill" { print $2 }' $group/memory.events)
cd /
[ -z "${volume:-}" ] || umount /root/volume || mount -o remount,ro /root/volume
echo "exit $code ${kills:-0}" >&4
# The keeper turns the machine off when it has read that.
read -r word <&5
off
