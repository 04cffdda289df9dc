// Finds descriptors that this process would unintentionally pass to every child.
import { readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Open descriptors above stderr that would survive an exec. Node opens all of its own close-on-exec and marks those
 * it inherited only up to the first gap, so a shell or supervisor that started the platform can leave some behind.
 */
export function inheritedDescriptors(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && survivesExec(descriptor));
}

function survivesExec(descriptor: number): boolean {
  let info: string;
  try {
    info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
  } catch {
    return false; // closed since the listing, which holds one of its own
  }
  const flags = /^flags:\s*([0-7]+)/m.exec(info)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}
