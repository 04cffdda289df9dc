// An address as a QR code. Loaded apart from the page that shows it, which works without it.
import { encode } from 'uqr';

/** Modules of quiet zone on each side, as ISO/IEC 18004 demands. */
const QUIET_ZONE = 4;
/** Modules on a side from which a code needs more room to be scanned. */
const LARGE_FROM = 50;

export interface QrCodeProps {
  readonly text: string;
  /** What it is the code of, for screen readers. Default: the text. */
  readonly what?: string | undefined;
}

/**
 * Dark modules on a light ground in both colour schemes: many cameras read no other. Attributes alone, since the policy of
 * the page allows no inline style and no markup from text.
 */
export function QrCode({ text, what = text }: QrCodeProps) {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  return (
    <svg
      class={size > LARGE_FROM ? 'qr-code large' : 'qr-code'}
      viewBox={`0 0 ${size} ${size}`}
      shape-rendering="crispEdges"
      role="img"
      aria-label={`QR code of ${what}`}
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={runsOf(data)} fill="#000000" />
    </svg>
  );
}

/** One rectangle for each run of dark modules in a line. */
function runsOf(lines: readonly (readonly boolean[])[]): string {
  let path = '';
  for (const [y, line] of lines.entries()) {
    let from = line.indexOf(true);
    while (from !== -1) {
      const end = line.indexOf(false, from);
      const to = end === -1 ? line.length : end;
      path += `M${from} ${y}h${to - from}v1H${from}z`;
      from = line.indexOf(true, to);
    }
  }
  return path;
}
