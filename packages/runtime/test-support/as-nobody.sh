# As root, in a mount namespace of its own: runs a program as `nobody`, who finds the checkout below a folder that he can
# enter, and /dev/net/tun as open as machines have it.
# Usage: sh as-nobody.sh <checkout> <folder> <program> [arguments …]
set -eu
checkout=$1; stage=$2; shift 2
mount --make-rprivate /
# Not the folder itself: it may be closed to others, as are those above it.
mount -t tmpfs -o mode=0755 tmpfs "$stage"
for entry in "$checkout"/*; do
  here=$stage/${entry##*/}
  if [ -d "$entry" ]; then mkdir "$here"; else : >"$here"; fi
  mount --bind "$entry" "$here"
done
# Volumes of tests that run at the same time: a copy of their mounts would outlive them here, and look like a leftover.
while read -r _ _ _ _ point _; do
  case $point in
    "$stage" | "$stage"/*) ;;
    # Some go with the one that they are in, before their turn.
    "$(dirname "$(dirname "$stage")")"/*) umount -l "$point" 2>/dev/null || : ;;
  esac
done </proc/self/mountinfo
devices=$(mktemp -d)
mount -t tmpfs -o mode=0755 tmpfs "$devices"
mknod -m 666 "$devices/tun" c 10 200
mount --bind "$devices/tun" /dev/net/tun
umount -l "$devices"
rmdir "$devices"
cd /
exec setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups "$@"
