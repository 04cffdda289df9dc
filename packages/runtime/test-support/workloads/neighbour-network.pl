# Tries to act on the network at the other end of its interfaces, by the number that the kernel gives to that network when
# somebody lists interfaces. Prints for each number whether it can see the link that its argument names, and delete it:
# `done` or the number of the error.
socket(my $socket, 16, 3, 0) or die "socket: $!\n";
# All own links, each with the number of the network at its other end.
send($socket, message(18, 0x301, ''), 0) or die "send: $!\n";
until_done();
for my $number (0 .. 2) {
    my $target = named($ARGV[0]) . pack('S S i', 8, 46, $number);
    print "see $number: ", ask(18, $target), "\n", "delete $number: ", ask(17, $target), "\n";
}

sub message {
    my ($type, $flags, $attributes) = @_;
    return pack('I S S I I x16', 32 + length $attributes, $type, $flags, 1, 0) . $attributes;
}

sub named {
    my $name = "$_[0]\0";
    return pack('S S a*', 4 + length $name, 3, $name . "\0" x (-length($name) % 4));
}

sub until_done {
    for (;;) {
        recv($socket, my $answer, 65536, 0);
        for (my $at = 0; $at < length $answer; $at += (unpack('I', substr($answer, $at)) + 3) & ~3) {
            return if unpack('S', substr($answer, $at + 4)) == 3;
        }
    }
}

sub ask {
    my ($type, $attributes) = @_;
    send($socket, message($type, $type == 18 ? 1 : 5, $attributes), 0) or die "send: $!\n";
    recv($socket, my $answer, 65536, 0);
    return 'done' if unpack('S', substr($answer, 4)) == 16;
    return -unpack('i', substr($answer, 16)) || 'done';
}
