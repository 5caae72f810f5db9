/**
 * Which connection a cancel request means: each has a number and a secret, both random, so that nobody cancels what is not its own. A
 * request with another secret does nothing and is answered by nothing.
 */
import { randomInt } from "node:crypto";
import type { WireSession } from "../wire/wire-session.ts";

/** What BackendKeyData tells. */
export interface CancelKey {
  readonly processId: number;
  readonly secret: number;
}

const NUMBERS = 2 ** 31;

/** See the file header. */
export class CancelKeys {
  private readonly sessions: Map<number, { readonly secret: number; readonly session: WireSession }> = new Map();

  /** A key that no session has. */
  unused(): CancelKey {
    let processId = randomInt(1, NUMBERS);
    while (this.sessions.has(processId)) processId = randomInt(1, NUMBERS);
    return { processId, secret: randomInt(0, 2 ** 32) };
  }

  /** Makes a session known by its key. */
  add({ processId, secret }: CancelKey, session: WireSession): void {
    this.sessions.set(processId, { secret, session });
  }

  remove({ processId }: CancelKey): void {
    this.sessions.delete(processId);
  }

  /** Cancels what the session runs. */
  cancel({ processId, secret }: CancelKey): void {
    const found = this.sessions.get(processId);
    if (found?.secret === secret) found.session.cancel();
  }
}
