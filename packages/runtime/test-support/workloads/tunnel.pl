# Makes a tunnel device with an address, sends a datagram to the address behind it, takes the packet out of the device as
# the other end of a tunnel would, and puts an answer in. Prints what its socket receives. Without modules: a sandbox has none.
$| = 1;
alarm 10;
open(my $tun, '+<', '/dev/net/tun') or die "open: $!\n";
my $request = pack('a16 S x22', 'tun7', 0x1001);
ioctl($tun, 0x400454ca, $request) or die "TUNSETIFF: $!\n";
socket(my $socket, 2, 2, 0) or die "socket: $!\n";
set(0x8916, pack('S n C4 x16', 2, 0, 10, 99, 0, 1));
set(0x891c, pack('S n C4 x16', 2, 0, 255, 255, 255, 0));
set(0x8914, pack('S x22', 0x41));
send($socket, 'through the tunnel', 0, pack('S n C4 x8', 2, 7, 10, 99, 0, 2)) or die "send: $!\n";
my $packet;
do { sysread($tun, $packet, 2000) or die "read: $!\n" } until unpack('C', $packet) == 0x45 && ord(substr($packet, 9, 1)) == 17;
my ($ip, $from, $to, $source, $target, $rest) = unpack('a12 a4 a4 a2 a2 a*', $packet);
# Swapped, they have the same sums.
syswrite($tun, pack('a12 a4 a4 a2 a2 a*', $ip, $to, $from, $target, $source, $rest)) or die "write: $!\n";
my $sender = recv($socket, my $answer, 2000, 0);
print join('.', (unpack('S n C4', $sender))[2 .. 5]), " answers $answer";

sub set {
    my ($number, $value) = @_;
    my $change = pack('a16 a24', 'tun7', $value);
    ioctl($socket, $number, $change) or die "ioctl $number: $!\n";
}
