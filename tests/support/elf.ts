// Executables for tests, written byte by byte, so that no compiler is needed: headers of every kind, and one real program
// that becomes another. What they do is left to busybox, where it is installed as one static file (Debian: busybox-static).
import { readFileSync } from 'node:fs';

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const BASE = 0x400000;
const machines = { x64: 62, arm64: 183, riscv: 243 } as const;

export interface ElfDescription {
  /** Default: that of this process. */
  readonly machine?: keyof typeof machines;
  /** Default: 2, an executable. */
  readonly type?: number;
  /** Default: 0, System V. */
  readonly system?: number;
  /** Default: 2, 64 bits. */
  readonly class?: number;
  /** Path of the loader that it asks for. Default: none, linked statically. */
  readonly loader?: string;
  /** Where its list of segments is. Default: behind the header. */
  readonly segmentsAt?: number;
  /** What follows the headers; the first byte is the first instruction. */
  readonly code?: Buffer;
}

/** An ELF file of 64 bits, loaded as it is at one place in memory. */
export function elf(description: ElfDescription = {}): Buffer {
  const { loader, code = Buffer.from([0xcc]), segmentsAt = HEADER_BYTES } = description;
  const loaderBytes = Buffer.from(loader === undefined ? '' : `${loader}\0`);
  const segments = loader === undefined ? 1 : 2;
  const start = HEADER_BYTES + segments * SEGMENT_BYTES;
  const size = start + code.length + loaderBytes.length;
  const header = Buffer.alloc(HEADER_BYTES);
  header.set([0x7f, 0x45, 0x4c, 0x46, description.class ?? 2, 1, 1, description.system ?? 0]);
  header.writeUInt16LE(description.type ?? 2, 16);
  header.writeUInt16LE(machines[description.machine ?? (process.arch === 'arm64' ? 'arm64' : 'x64')], 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(BASE + start), 24);
  header.writeBigUInt64LE(BigInt(segmentsAt), 32);
  header.writeUInt16LE(HEADER_BYTES, 52);
  header.writeUInt16LE(SEGMENT_BYTES, 54);
  header.writeUInt16LE(segments, 56);
  const loaded = segment({ type: 1, offset: 0, size });
  const interpreter = segment({ type: 3, offset: start + code.length, size: loaderBytes.length });
  return Buffer.concat([header, loaded, ...(loader === undefined ? [] : [interpreter]), code, loaderBytes]);
}

function segment({ type, offset, size }: { type: number; offset: number; size: number }): Buffer {
  const bytes = Buffer.alloc(SEGMENT_BYTES);
  bytes.writeUInt32LE(type, 0);
  // Readable and executable.
  bytes.writeUInt32LE(5, 4);
  bytes.writeBigUInt64LE(BigInt(offset), 8);
  bytes.writeBigUInt64LE(BigInt(BASE + offset), 16);
  bytes.writeBigUInt64LE(BigInt(BASE + offset), 24);
  bytes.writeBigUInt64LE(BigInt(size), 32);
  bytes.writeBigUInt64LE(BigInt(size), 40);
  bytes.writeBigUInt64LE(0x1000n, 48);
  return bytes;
}

/** A static executable for x86-64 that becomes another program with these arguments after its name, and keeps its environment. */
export function becoming(program: string, args: readonly string[]): Buffer {
  const texts = [program, ...args].map((text) => Buffer.from(`${text}\0`));
  // Code, then the pointers to the arguments with a zero at the end, then the texts.
  const codeBytes = 47;
  const pointersAt = BASE + HEADER_BYTES + SEGMENT_BYTES + codeBytes;
  let at = pointersAt + (texts.length + 1) * 8;
  const places = texts.map((text) => {
    const place = at;
    at += text.length;
    return place;
  });
  const address = (value: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    return bytes;
  };
  const code = Buffer.concat([
    Buffer.from([0x48, 0x8b, 0x04, 0x24]), // mov rax, [rsp]: the number of arguments
    Buffer.from([0x48, 0x8d, 0x54, 0xc4, 0x10]), // lea rdx, [rsp + rax * 8 + 16]: the environment
    Buffer.from([0x48, 0xbf]), // mov rdi, program
    address(places[0] ?? 0),
    Buffer.from([0x48, 0xbe]), // mov rsi, arguments
    address(pointersAt),
    Buffer.from([0xb8, 59, 0, 0, 0, 0x0f, 0x05]), // execve
    Buffer.from([0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05]), // exit with what it answered
    Buffer.alloc(2),
  ]);
  if (code.length !== codeBytes) throw new Error(`The code has ${code.length} bytes.`);
  return elf({ machine: 'x64', code: Buffer.concat([code, ...places.map(address), address(0), ...texts]) });
}

/** Busybox as one static file, or undefined where this machine has none. */
export function staticBusybox(): Buffer | undefined {
  for (const path of ['/bin/busybox', '/usr/bin/busybox']) {
    try {
      return readFileSync(path);
    } catch {
      // not there
    }
  }
  return undefined;
}
