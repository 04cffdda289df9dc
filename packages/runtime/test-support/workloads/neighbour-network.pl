# Tries to act on the network at the other end of its interfaces, by the number that the kernel gives to that network when
# somebody looks at an interface. Prints what it lists there, and whether it could delete the link that its argument names.
socket(my $socket, 16, 3, 0) or die "socket: $!\n";
# RTM_GETLINK of all, which numbers the other networks.
ask(18, 0x301, '');
for my $number (0 .. 3) {
    my $target = pack('S S i', 8, 46, $number);
    print "list $number: ", ask(18, 1, $target . named('lo')), "\n";
    print "delete $number: ", ask(17, 5, named($ARGV[0]) . $target), "\n";
}

sub named {
    my $name = "$_[0]\0";
    return pack('S S a*', 4 + length $name, 3, $name . "\0" x (-length($name) % 4));
}

# `done`, or the number of the error.
sub ask {
    my ($type, $flags, $attributes) = @_;
    my $body = pack('x16') . $attributes;
    send($socket, pack('I S S I I', 16 + length $body, $type, $flags, 1, 0) . $body, 0) or die "send: $!\n";
    for (;;) {
        recv($socket, my $answer, 65536, 0);
        my ($kind, $error) = (unpack('S', substr($answer, 4, 2)), unpack('i', substr($answer, 16, 4)));
        # Of a list there are several, with its end in the last.
        return 'done' if $kind == 3 || ($kind == 16 && $flags == 1);
        return $error == 0 ? 'done' : -$error if $kind == 2;
        while (length $answer) { my $length = unpack('I', $answer); return 'done' if unpack('S', substr($answer, 4, 2)) == 3; $answer = substr($answer, ($length + 3) & ~3) if 1; }
    }
}
