# As root, in a mount namespace of its own: runs a program as `nobody`, who finds the checkout below a folder that he can
# enter, and /dev/net/tun as open as machines have it.
# Usage: sh as-nobody.sh <checkout> <folder> <program> [arguments …]
set -eu
checkout=$1; stage=$2; shift 2
mount --make-rprivate /
devices=$(mktemp -d)
mount -t tmpfs -o mode=0755 tmpfs "$devices"
mknod -m 666 "$devices/tun" c 10 200
mount --bind "$devices/tun" /dev/net/tun
umount -l "$devices"
rmdir "$devices"
mount --bind "$checkout" "$stage"
cd /
exec setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups "$@"
