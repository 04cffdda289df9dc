// A system call filter for sandboxes: blocks calls that no app backend needs and through which kernels have been
// exploited. Classic BPF for seccomp(2), generated here because a compiler for it is not installed everywhere.
import { newNamespaceFlags, refusedCalls, refusedRequests, socketFamilies } from '../system-calls.ts';

interface Processor {
  readonly audit: number;
  readonly clone: number;
  readonly clone3: number;
  readonly ioctl: number;
  readonly socket: number;
  readonly refused: readonly number[];
}

const numbersOf = (processor: 'x64' | 'arm64'): readonly number[] =>
  refusedCalls.flatMap((call) => call[processor] ?? []);

const PROCESSORS: Readonly<Record<string, Processor>> = {
  x64: { audit: 0xc000003e, clone: 56, clone3: 435, ioctl: 16, socket: 41, refused: numbersOf('x64') },
  arm64: { audit: 0xc00000b7, clone: 220, clone3: 435, ioctl: 29, socket: 198, refused: numbersOf('arm64') },
};

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;

const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const ARGUMENTS_OFFSET = 16;
const X32_BIT = 0x40000000;
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** The filter as bytes of `struct sock_filter[]`, or undefined on a processor it is not made for. */
export function seccompFilter(processor: string = process.arch): Buffer | undefined {
  const numbers = PROCESSORS[processor];
  return numbers === undefined ? undefined : encode(program(numbers));
}

function program(numbers: Processor): Instruction[] {
  const argument = (index: number) => ARGUMENTS_OFFSET + 8 * index;
  return [
    [LOAD_WORD, 0, 0, ARCHITECTURE_OFFSET],
    [JUMP_EQUAL, 1, 0, numbers.audit],
    [RETURN, 0, 0, ENOSYS],
    [LOAD_WORD, 0, 0, NUMBER_OFFSET],
    [JUMP_AT_LEAST, 0, 1, X32_BIT],
    [RETURN, 0, 0, ENOSYS],
    ...numbers.refused.flatMap((number): Instruction[] => [
      [JUMP_EQUAL, 0, 1, number],
      [RETURN, 0, 0, EPERM],
    ]),
    // Its flags lie in memory where a filter cannot look; programs fall back to clone.
    [JUMP_EQUAL, 0, 1, numbers.clone3],
    [RETURN, 0, 0, ENOSYS],
    [JUMP_EQUAL, 0, 4, numbers.clone],
    [LOAD_WORD, 0, 0, argument(0)],
    [JUMP_ANY_BIT, 0, 1, newNamespaceFlags],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    [JUMP_EQUAL, 0, 5, numbers.ioctl],
    [LOAD_WORD, 0, 0, argument(1)],
    [JUMP_EQUAL, 1, 0, refusedRequests[0]],
    [JUMP_EQUAL, 0, 1, refusedRequests[1]],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    [JUMP_EQUAL, 0, 2 + socketFamilies.length, numbers.socket],
    [LOAD_WORD, 0, 0, argument(0)],
    ...socketFamilies.map((family, index): Instruction => [JUMP_EQUAL, socketFamilies.length - index, 0, family]),
    [RETURN, 0, 0, EAFNOSUPPORT],
    [RETURN, 0, 0, ALLOW],
  ];
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}

/**
 * Loads the filter in the file that the first argument names, by prctl(2), whose number is the second, and runs the
 * rest, for the mechanism that has no loader of its own. PR_SET_NO_NEW_PRIVS must already be set. Ends with an error
 * instead of running anything unfiltered.
 */
export const perlLoader = `
use strict;
my $file = shift @ARGV;
my $number = shift @ARGV;
open(my $in, "<:raw", $file) or die "filter: $!\\n";
my $filter = do { local $/; <$in> };
close($in);
my $program = pack("S x![P] P", length($filter) / 8, $filter);
syscall($number + 0, 22, 2, $program, 0, 0) == 0 or die "filter: $!\\n";
exec { $ARGV[0] } @ARGV or die "exec: $!\\n";
`;

/** Number of prctl(2). */
export const prctlNumber: Readonly<Record<string, number>> = { x64: 157, arm64: 167 };
