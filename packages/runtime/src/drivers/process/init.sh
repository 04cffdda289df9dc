# First process of a sandbox made with unshare: runs the workload, collects what its children leave behind, and ends
# with the workload's own exit code, which ends everything else in the namespace.
"$@" &
workload=$!
# The channel to the Runtime belongs to the bootstrap alone, which closes it before the workload's code runs; the
# output belongs to the workload, and the shell's own remarks do not.
exec 3>&- >/dev/null 2>&1
wait "$workload"
exit $?
