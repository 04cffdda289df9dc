// What an attack has to know of the platform that it attacks.
import type { BackendDoor } from '../../../tests/support/backend.ts';

export interface Frontend {
  readonly origin: string;
  readonly capability: string;
}

export interface Scene {
  readonly port: number;
  readonly origin: string;
  /** Of the attacker's session. */
  readonly cookie: string;
  /** Installations of one account, with the same program. */
  readonly backends: readonly BackendDoor[];
  readonly frontend: Frontend;
  readonly seconds: number;
}
