# Runs a program in a network namespace whose only way leads to another one: an internet that no packet can leave.
# Usage: sh internet.sh <node> <internet.mjs> <addresses, comma-separated> <program> [arguments …]
set -eu
node=$1; internet=$2; addresses=$3; shift 3
ip link set lo up
# A refusal should be heard each time.
echo 0 > /proc/sys/net/ipv4/icmp_ratelimit
unshare --net --kill-child=KILL --fork -- "$node" "$internet" "$addresses" &
launcher=$!
# The second process below the launcher is the one in the namespace, once it is another one than ours.
while :; do
  inside=$(cat "/proc/$launcher/task/$launcher/children" 2>/dev/null | cut -d ' ' -f 1)
  [ -n "$inside" ] && [ "$(readlink "/proc/$inside/ns/net")" != "$(readlink /proc/self/ns/net)" ] && break
  kill -0 "$launcher"
done
ip link add up0 type veth peer name up0 netns "$inside"
ip address add 5.6.7.1/24 dev up0
ip link set up0 up
ip route add default via 5.6.7.2
{
  echo "link set lo up"
  echo "address add 5.6.7.2/24 dev up0"
  echo "link set up0 up"
  echo "$addresses" | tr , '\n' | sed 's/.*/address add &\/32 dev lo/'
} | nsenter --net="/proc/$inside/ns/net" ip -batch -
# The program begins when the internet is there.
while ! nsenter --net="/proc/$inside/ns/net" sh -c 'grep -q ":1B59 " /proc/net/tcp' 2>/dev/null; do
  kill -0 "$launcher"
done
# What the tests want changed on this machine, where they have no right to: lines of arguments for ip.
commands=${PLATFORM_TEST_INTERNET_COMMANDS:-}
if [ -n "$commands" ]; then
  mkfifo "$commands"
  while read -r words; do ip $words; done <>"$commands" &
  helper=$!
fi
"$@" && code=0 || code=$?
kill -KILL "$inside" "$launcher" ${helper:-} 2>/dev/null || :
exit "$code"
