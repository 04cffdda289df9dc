// Whether a file can be the executable of a backend of runtime "binary", by its first bytes (docs/decisions/binary-runtime.md).
// The sandbox confines whatever the kernel makes of the file; this is for clear words before it is tried.

/** Processors that machines of the platform may have, as Node names them, with the number in the ELF header. */
const processors = { x64: 62, arm64: 183 } as const;
export type Processor = keyof typeof processors;
export const processorKinds = Object.keys(processors) as [Processor, ...Processor[]];

/** The names that compilers use. */
export const processorNames: Readonly<Record<Processor, string>> = { x64: 'x86-64', arm64: 'aarch64' };

/** How much of the file has to be there: its header, and the list of its segments, which linkers write behind it. */
export const EXECUTABLE_HEAD_BYTES = 4_096;

export type ExecutableCheck =
  | { readonly ok: true; readonly processor: Processor }
  /** `fault` follows the name of the file in a sentence, without a full stop. */
  | { readonly ok: false; readonly fault: string };

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const MAGIC = [0x7f, 0x45, 0x4c, 0x46];
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;
/** System V and Linux. */
const SYSTEMS = [0, 3];
const EXECUTABLE_TYPES = [2, 3];
const LOADED_SEGMENT = 1;
const INTERPRETER_SEGMENT = 3;
const STATIC =
  'Link it statically: Rust with the target x86_64-unknown-linux-musl or aarch64-unknown-linux-musl, Go with CGO_ENABLED=0';

/** @param head the first EXECUTABLE_HEAD_BYTES of the file, or all of a shorter one */
export function checkExecutable(head: Uint8Array): ExecutableCheck {
  const fault = (words: string): ExecutableCheck => ({ ok: false, fault: words });
  if (head.length === 0) return fault('is empty');
  if (head[0] === 0x23 && head[1] === 0x21)
    return fault(
      'is a script, and the runtime "binary" needs an executable: the program that would run it is not promised',
    );
  if (MAGIC.some((byte, index) => head[index] !== byte)) return fault('is not an executable for Linux (ELF)');
  if (head.length < HEADER_BYTES) return fault('is cut short');
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const processor = processorKinds.find(
    (name) => processors[name] === view.getUint16(18, view.getUint8(5) === LITTLE_ENDIAN),
  );
  if (processor === undefined || view.getUint8(4) !== CLASS_64 || view.getUint8(5) !== LITTLE_ENDIAN)
    return fault(
      `is built for another processor: machines of the platform are ${processorNames.x64} or ${processorNames.arm64}`,
    );
  if (!SYSTEMS.includes(view.getUint8(7))) return fault('is built for another system than Linux');
  // An object file, a core dump, or a library, which has no first instruction.
  if (!EXECUTABLE_TYPES.includes(view.getUint16(16, true)) || view.getBigUint64(24, true) === 0n)
    return fault('is an object file or a library, not an executable');
  const segments = segmentsOf(view);
  if (segments === undefined) return fault('is damaged: its list of segments is not behind its header');
  const interpreter = segments.find(({ type }) => type === INTERPRETER_SEGMENT);
  if (interpreter !== undefined)
    return fault(`is linked dynamically${loaderOf(head, interpreter)}, and sandboxes promise no libraries. ${STATIC}`);
  if (!segments.some(({ type }) => type === LOADED_SEGMENT)) return fault('is damaged: it has nothing to load');
  return { ok: true, processor };
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
}

function segmentsOf(view: DataView): Segment[] | undefined {
  const start = Number(view.getBigUint64(32, true));
  const count = view.getUint16(56, true);
  const fits = start >= HEADER_BYTES && start + count * SEGMENT_BYTES <= view.byteLength;
  if (!fits || count === 0 || view.getUint16(54, true) !== SEGMENT_BYTES) return undefined;
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * SEGMENT_BYTES;
    return {
      type: view.getUint32(at, true),
      offset: Number(view.getBigUint64(at + 8, true)),
      size: Number(view.getBigUint64(at + 32, true)),
    };
  });
}

/** Its path, where that is a plain one and near enough to be read. */
function loaderOf(head: Uint8Array, { offset, size }: Segment): string {
  if (size < 2 || size > 256 || offset + size > head.length) return '';
  const path = String.fromCharCode(...head.subarray(offset, offset + size - 1));
  return /^\/[\w\-./+]+$/.test(path) ? `, by ${path}` : '';
}
