// Static programs for Linux, as bytes: system calls one after the other, each with fixed arguments. No compiler is
// installed everywhere, and a program that is linked dynamically would run the loader and libraries of the app's image.

/** An argument: a number, the address of a piece of data, the descriptor that was kept, or memory to write to. */
export type Operand = number | { readonly data: string } | 'kept' | 'scratch';

export interface Step {
  readonly call: CallName;
  readonly args: readonly Operand[];
  /** Result without which the program ends. Default: any but an error. */
  readonly expect?: 1;
  /** Keeps the result for `kept`. */
  readonly keep?: true;
}

export interface Program {
  readonly steps: readonly Step[];
  /** Given the address of every piece, since one may point to another. */
  readonly data: (addressOf: (name: string) => number) => Readonly<Record<string, Buffer>>;
}

interface Processor {
  /** In the header of the file. */
  readonly machine: number;
  readonly calls: Readonly<Record<CallName | 'exit', number>>;
  step(number: number, step: Step, addressOf: (name: string) => number, failure: Failure): Buffer;
  /** Becomes the program that its own arguments name, with the arguments that follow and the same environment. */
  readonly become: Buffer;
  exit(failure: Failure): Buffer;
}

interface Failure {
  readonly exit: number;
  readonly code: number;
}

export type CallName = 'unshare' | 'socket' | 'connect' | 'read' | 'close' | 'prctl' | 'capset';

const BASE = 0x400000;
const HEADER_BYTES = 64 + 56;
/** What it ends with when it cannot become the other program. */
export const CANNOT_BECOME = 127;

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};

const long = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};

const x64: Processor = {
  machine: 62,
  calls: { unshare: 272, socket: 41, connect: 42, read: 0, close: 3, prctl: 157, capset: 126, exit: 60 },
  step(number, { args, expect, keep }, addressOf, failure) {
    // mov into rdi, rsi, rdx, r10, r8
    const registers = [
      [0x48, 0xbf],
      [0x48, 0xbe],
      [0x48, 0xba],
      [0x49, 0xba],
      [0x49, 0xb8],
    ] as const;
    const loads = args.map((operand, index) => {
      if (operand === 'kept') return Buffer.from([0x48, 0x89, 0xdf]); // mov rdi, rbx
      if (operand === 'scratch') return Buffer.from([0x48, 0x8d, 0x74, 0x24, 0x80]); // lea rsi, [rsp-128]
      const value = typeof operand === 'number' ? operand : addressOf(operand.data);
      return Buffer.concat([Buffer.from(registers[index] ?? []), long(value)]);
    });
    return Buffer.concat([
      ...loads,
      ...[Buffer.from([0xb8]), word(number), Buffer.from([0x0f, 0x05])], // mov eax, number; syscall
      // cmp rax, 1; je +12 or test rax, rax; jns +12
      Buffer.from(expect === 1 ? [0x48, 0x83, 0xf8, 0x01, 0x74, 0x0c] : [0x48, 0x85, 0xc0, 0x79, 0x0c]),
      this.exit(failure),
      Buffer.from(keep ? [0x48, 0x89, 0xc3] : []), // mov rbx, rax
    ]);
  },
  // lea rsi, [rsp+16]; mov rdi, [rsi]; mov rax, [rsp]; lea rdx, [rsp+rax*8+16]; mov eax, 59; syscall
  become: Buffer.from('488d74241048 8b3e488b0424488d54c410b83b0000000f05'.replaceAll(' ', ''), 'hex'),
  // mov edi, code; mov eax, exit; syscall
  exit: ({ code, exit }) =>
    Buffer.concat([Buffer.from([0xbf]), word(code), Buffer.from([0xb8]), word(exit), Buffer.from([0x0f, 0x05])]),
};

/** movz and movk of 64 bits into a register. */
const move = (register: number, value: number): Buffer =>
  Buffer.concat(
    [0, 1, 2, 3].map((part) => {
      const bits = Math.floor(value / 2 ** (16 * part)) % 2 ** 16;
      return word((part === 0 ? 0xd2800000 : 0xf2800000) + part * 2 ** 21 + bits * 32 + register);
    }),
  );

const CALL_REGISTER = 8;
const SUPERVISOR_CALL = word(0xd4000001);

const arm64: Processor = {
  machine: 183,
  calls: { unshare: 97, socket: 198, connect: 203, read: 63, close: 57, prctl: 167, capset: 91, exit: 93 },
  step(number, { args, expect, keep }, addressOf, failure) {
    const loads = args.map((operand, index) => {
      if (operand === 'kept') return word(0xaa1303e0); // mov x0, x19
      if (operand === 'scratch') return word(0xd10203e1); // sub x1, sp, #128
      return move(index, typeof operand === 'number' ? operand : addressOf(operand.data));
    });
    return Buffer.concat([
      ...[...loads, move(CALL_REGISTER, number), SUPERVISOR_CALL],
      // cmp x0, #1; b.eq +40 or tbz x0, #63, +40: past the exit
      ...(expect === 1 ? [word(0xf100041f), word(0x54000140)] : [word(0xb6f80140)]),
      this.exit(failure),
      ...(keep ? [word(0xaa0003f3)] : []), // mov x19, x0
    ]);
  },
  // ldr x9, [sp]; add x1, sp, #16; ldr x0, [x1]; add x2, x1, x9, lsl #3; execve
  become: Buffer.concat([
    ...[0xf94003e9, 0x910043e1, 0xf9400020, 0x8b090c22].map(word),
    ...[move(CALL_REGISTER, 221), SUPERVISOR_CALL],
  ]),
  exit: ({ code, exit }) => Buffer.concat([move(0, code), move(CALL_REGISTER, exit), SUPERVISOR_CALL]),
};

const PROCESSORS: Readonly<Record<string, Processor>> = { x64, arm64 };

/**
 * The program as an executable file, which takes the steps and then becomes what its arguments name. It ends with the
 * number of the step that failed, from 1. Undefined on a processor for which there is none.
 */
export function executable(program: Program, processor: string = process.arch): Buffer | undefined {
  const target = PROCESSORS[processor];
  if (target === undefined) return undefined;
  const { exit } = target.calls;
  const code = (addressOf: (name: string) => number) =>
    Buffer.concat([
      ...program.steps.map((step, index) =>
        target.step(target.calls[step.call], step, addressOf, { exit, code: index + 1 }),
      ),
      ...[target.become, target.exit({ exit, code: CANNOT_BECOME })],
    ]);
  // Neither the length of the code nor that of the data depends on the addresses.
  const dataAt = aligned(BASE + HEADER_BYTES + code(() => 0).length);
  const places = new Map<string, number>();
  let end = dataAt;
  for (const [name, { length }] of Object.entries(program.data(() => 0))) {
    places.set(name, end);
    end = aligned(end + length);
  }
  const addressOf = (name: string) => places.get(name) ?? 0;
  const file = Buffer.alloc(end - BASE);
  header(target.machine, file.length).copy(file);
  code(addressOf).copy(file, HEADER_BYTES);
  for (const [name, bytes] of Object.entries(program.data(addressOf))) bytes.copy(file, addressOf(name) - BASE);
  return file;
}

const aligned = (address: number): number => Math.ceil(address / 8) * 8;

/** ELF of 64 bits with one segment, which is the whole file, readable and executable. */
function header(machine: number, size: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  bytes.writeUInt16LE(2, 16);
  bytes.writeUInt16LE(machine, 18);
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(BigInt(BASE + HEADER_BYTES), 24);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(64, 52);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56);
  bytes.writeUInt32LE(1, 64);
  bytes.writeUInt32LE(5, 68);
  for (const at of [80, 88]) bytes.writeBigUInt64LE(BigInt(BASE), at);
  for (const at of [96, 104]) bytes.writeBigUInt64LE(BigInt(size), at);
  // 64 KiB, the largest page of any of these processors.
  bytes.writeBigUInt64LE(0x10000n, 112);
  return bytes;
}
