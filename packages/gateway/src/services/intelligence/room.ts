// How many bytes of bodies a Gateway keeps in memory at a time, for all its calls together.

export interface Room {
  /** @returns false when there is no more room for so many */
  take(bytes: number): boolean;
  /** Gives back all that was taken through this. */
  free(): void;
}

export interface Rooms {
  open(): Room;
}

export function openRooms(most: number): Rooms {
  let held = 0;
  return {
    open() {
      let own = 0;
      return {
        take(bytes) {
          if (held + bytes > most) return false;
          held += bytes;
          own += bytes;
          return true;
        },
        free() {
          held -= own;
          own = 0;
        },
      };
    },
  };
}
