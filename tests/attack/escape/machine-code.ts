// Makes a tiny static Linux program that carries out given system calls and prints what came of each: what a hostile
// package would bring along, since no tool inside a sandbox can be counted on. x86-64 only.
import os from 'node:os';

/** A number, the address of bytes in the program's memory, or what an earlier call returned. */
export type Argument = number | bigint | { readonly bytes: Buffer } | { readonly resultOf: number };

export interface Call {
  /** Number on x86-64. */
  readonly number: number;
  readonly arguments: readonly Argument[];
  /** Through the gate of 32-bit programs (int 0x80), whose calls have other numbers. */
  readonly as32Bit?: true;
}

/** The machine code that can be made here. */
export const canMakePrograms = process.arch === 'x64';

const BASE = 0x400000;
const HEADERS = 0x78;
/** mov register, imm64 and mov register, [disp32]: rdi, rsi, rdx, r10, r8, r9. */
const REGISTERS = [
  { immediate: [0x48, 0xbf], memory: [0x48, 0x8b, 0x3c, 0x25] },
  { immediate: [0x48, 0xbe], memory: [0x48, 0x8b, 0x34, 0x25] },
  { immediate: [0x48, 0xba], memory: [0x48, 0x8b, 0x14, 0x25] },
  { immediate: [0x49, 0xba], memory: [0x4c, 0x8b, 0x14, 0x25] },
  { immediate: [0x49, 0xb8], memory: [0x4c, 0x8b, 0x04, 0x25] },
  { immediate: [0x49, 0xb9], memory: [0x4c, 0x8b, 0x0c, 0x25] },
];
/** The registers of a 32-bit call: ebx, ecx, edx, esi, edi. */
const REGISTERS_32 = [0xbb, 0xb9, 0xba, 0xbe, 0xbf];

/** An ELF file as base64. It prints 8 bytes for each call, then all bytes that were given as arguments. */
export function programOf(calls: readonly Call[]): string {
  const count = calls.length;
  // Two passes: the first finds out how long the code is, the second knows where everything lies.
  const length = assemble(calls, 0).length;
  const results = BASE + HEADERS + length;
  const code = assemble(calls, results);
  const data = Buffer.concat(calls.flatMap((call) => bytesOf(call)));
  const body = Buffer.concat([code, Buffer.alloc(8 * count), data]);
  const header = Buffer.alloc(HEADERS);
  header.write('\x7fELF\x02\x01\x01', 'latin1');
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(62, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(BASE + HEADERS), 24);
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  header.writeUInt32LE(1, 64);
  header.writeUInt32LE(7, 68);
  header.writeBigUInt64LE(BigInt(BASE), 80);
  header.writeBigUInt64LE(BigInt(BASE), 88);
  header.writeBigUInt64LE(BigInt(HEADERS + body.length), 96);
  header.writeBigUInt64LE(BigInt(HEADERS + body.length), 104);
  header.writeBigUInt64LE(0x1000n, 112);
  return Buffer.concat([header, body]).toString('base64');
}

export interface ProgramOutput {
  /** What each call returned; below zero an error's number. */
  readonly results: readonly number[];
  /** Name of the last call's error, or `done`. */
  readonly last: string;
  /** The bytes that were given, as the calls have left them. */
  readonly memory: Buffer;
}

/** Undefined when the program did not get to its end. */
export function readOutput(calls: readonly Call[], output: string): ProgramOutput | undefined {
  const bytes = Buffer.from(output, 'base64');
  if (bytes.length < 8 * calls.length) return undefined;
  const results = calls.map((call, index) => {
    const value = Number(bytes.readBigInt64LE(8 * index));
    return call.as32Bit === true ? value | 0 : value;
  });
  const last = results.at(-1) ?? 0;
  return {
    results,
    last: last < 0 && last > -4096 ? errorName(-last) : 'done',
    memory: bytes.subarray(8 * calls.length),
  };
}

function errorName(number: number): string {
  return Object.entries(os.constants.errno).find(([, value]) => value === number)?.[0] ?? `error ${number}`;
}

function bytesOf(call: Call): Buffer[] {
  return call.arguments.flatMap((argument) =>
    typeof argument === 'object' && 'bytes' in argument ? [argument.bytes] : [],
  );
}

function assemble(calls: readonly Call[], results: number): Buffer {
  const parts: Buffer[] = [];
  let data = results + 8 * calls.length;
  for (const [index, call] of calls.entries()) {
    const values = call.arguments.map((argument) => {
      if (typeof argument !== 'object') return { immediate: BigInt(argument) };
      if ('resultOf' in argument) return { memory: results + 8 * argument.resultOf };
      const address = data;
      data += argument.bytes.length;
      return { immediate: BigInt(address) };
    });
    parts.push(call.as32Bit === true ? enter32(call.number, values) : enter64(call.number, values));
    // mov [disp32], rax
    parts.push(Buffer.from([0x48, 0x89, 0x04, 0x25]), word(results + 8 * index));
  }
  const total = data - results;
  parts.push(enter64(1, [{ immediate: 1n }, { immediate: BigInt(results) }, { immediate: BigInt(total) }]));
  parts.push(enter64(60, [{ immediate: 0n }]));
  return Buffer.concat(parts);
}

type Value = { readonly immediate: bigint } | { readonly memory: number };

function enter64(number: number, values: readonly Value[]): Buffer {
  const loads = values.map((value, index) => {
    const register = REGISTERS[index];
    if (register === undefined) throw new Error('A system call takes at most six arguments.');
    return 'immediate' in value
      ? Buffer.concat([Buffer.from(register.immediate), long(value.immediate)])
      : Buffer.concat([Buffer.from(register.memory), word(value.memory)]);
  });
  return Buffer.concat([...loads, Buffer.from([0x48, 0xb8]), long(BigInt(number)), Buffer.from([0x0f, 0x05])]);
}

function enter32(number: number, values: readonly Value[]): Buffer {
  const loads = values.map((value, index) => {
    const register = REGISTERS_32[index];
    if (register === undefined || !('immediate' in value)) throw new Error('A 32-bit call takes five plain arguments.');
    return Buffer.concat([Buffer.from([register]), word(Number(value.immediate))]);
  });
  return Buffer.concat([...loads, Buffer.from([0xb8]), word(number), Buffer.from([0xcd, 0x80])]);
}

function word(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value >>> 0);
  return buffer;
}

function long(value: bigint): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt.asUintN(64, value));
  return buffer;
}

/** A path or name as C has it. */
export function text(value: string): { bytes: Buffer } {
  return { bytes: Buffer.from(`${value}\0`) };
}
