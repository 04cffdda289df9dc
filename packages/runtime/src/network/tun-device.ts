// The device through which what carries packets for an ordinary user is their other end.
import { accessSync, constants } from 'node:fs';

export const TUN_DEVICE = '/dev/net/tun';

/** Whether it is there and this process may open it. */
export function isTunOpen(): boolean {
  try {
    accessSync(TUN_DEVICE, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
