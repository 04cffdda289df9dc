// A WebAssembly module whose memory ends at a size of ours. The renderer's own declares no end, and V8 would let it grow to
// 4 GiB: limits of threads count their JavaScript objects alone. So the end is written into the module itself, where the engine
// enforces it on every growth.

/** Of the binary format: the section that declares memories. */
const MEMORY_SECTION = 5;
const HEADER_BYTES = 8;
/** Flags of a memory: that it has an end; all others are of shared and 64-bit memories. */
const HAS_END = 1;
export const WASM_PAGE_BYTES = 65_536;

/**
 * @param module in the binary format, with one memory of its own that has no end
 * @param pages at which its memory ends, of 64 KiB
 * @throws Error for another module
 */
export function withMemoryEnd(module: Buffer, pages: number): Buffer {
  for (let at = HEADER_BYTES; at < module.length; ) {
    const size = readNumber(module, at + 1);
    const end = size.end + size.value;
    if (module[at] === MEMORY_SECTION) {
      const declared = endless(module.subarray(size.end, end));
      const body = Buffer.concat([Buffer.from([1, HAS_END]), declared, writeNumber(pages)]);
      return Buffer.concat([
        module.subarray(0, at),
        Buffer.from([MEMORY_SECTION]),
        writeNumber(body.length),
        body,
        module.subarray(end),
      ]);
    }
    at = end;
  }
  throw new Error('the module has no memory of its own');
}

/** @returns the size at which the only memory of this section begins, as it is written there */
function endless(section: Buffer): Buffer {
  const [count, flags] = section;
  if (count !== 1 || flags !== 0) throw new Error('the module has another memory than one without end');
  return section.subarray(2);
}

/** LEB128, as all numbers of the format. */
function readNumber(bytes: Buffer, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let end = at, factor = 1; end < bytes.length; factor *= 128) {
    const byte = bytes.readUInt8(end);
    end += 1;
    value += (byte & 127) * factor;
    if (byte < 128) return { value, end };
  }
  throw new Error('the module ends in a number');
}

function writeNumber(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
