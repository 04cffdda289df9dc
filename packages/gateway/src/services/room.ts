// How many bytes of bodies a service of a Gateway keeps in memory at a time, for all its calls together.
import type { Share } from '@platform/http';

export interface Room {
  /** @returns false when there is no more room for so many */
  take(bytes: number): boolean;
  /** Gives back all that was taken through this. */
  free(): void;
}

export interface Rooms {
  open(): Room;
}

/** @param memory what its Gateway may hold beside the others */
export function openRooms(most: number, memory: Share): Rooms {
  let held = 0;
  return {
    open() {
      let own = 0;
      return {
        take(bytes) {
          if (held + bytes > most || !memory.take(bytes)) return false;
          held += bytes;
          own += bytes;
          return true;
        },
        free() {
          held -= own;
          memory.remove(own);
          own = 0;
        },
      };
    },
  };
}
