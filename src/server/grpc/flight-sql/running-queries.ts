/** Answers that are being sent, by the random number in their ticket, so that CancelFlightInfo ends them. */
import { randomBytes } from "node:crypto";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** Bytes of a query's number. */
export const QUERY_ID_BYTES = 16;

/** A query that runs. */
interface Running {
  readonly user: string;
  readonly controller: AbortController;
}

/** See the file header. */
export class RunningQueries {
  private readonly byId: Map<string, Set<Running>> = new Map();

  /** A number for a ticket. */
  newId(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(randomBytes(QUERY_ID_BYTES));
  }

  /** Says that a query runs. @param signal of its call @returns its own signal, and what ends it */
  begin(id: Uint8Array, user: string, signal: AbortSignal): { readonly signal: AbortSignal; end(): void } {
    const key = id.toHex();
    const running: Running = { user, controller: new AbortController() };
    const all = this.byId.get(key) ?? new Set();
    this.byId.set(key, all.add(running));
    const end = (): void => {
      all.delete(running);
      if (all.size === 0 && this.byId.get(key) === all) this.byId.delete(key);
    };
    return { signal: AbortSignal.any([signal, running.controller.signal]), end };
  }

  /** Ends the queries of a number, if the user has such. @returns whether one ran */
  cancel(id: Uint8Array, user: string): boolean {
    let found = false;
    for (const running of this.byId.get(id.toHex()) ?? []) {
      if (running.user !== user) continue;
      found = true;
      running.controller.abort(new DbError(StatusCode.Cancelled, "Query has been cancelled: the client asked for it"));
    }
    return found;
  }
}
