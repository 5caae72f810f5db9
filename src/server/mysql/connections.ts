/** The connections of a server by their ids, so that one can end what another runs: KILL and COM_PROCESS_KILL. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { User } from "../../db/auth/user.ts";
import { WireFailure } from "./errors.ts";

/** A connection that may be ended. */
export interface Killable {
  readonly user: User;
  /** Ends the statement that runs. @returns whether one did */
  cancel(): boolean;
  /** Ends the connection. */
  end(): void;
}

const ID_MAX = 0x7fff_ffff;

/** See the file header. */
export class Connections {
  private readonly byId: Map<number, Killable> = new Map();
  private next = 1;

  /** How many have signed in. */
  get size(): number {
    return this.byId.size;
  }

  /** An id for a connection that begins. */
  newId(): number {
    const id = this.next;
    this.next = id === ID_MAX ? 1 : id + 1;
    return id;
  }

  add(id: number, connection: Killable): void {
    this.byId.set(id, connection);
  }

  remove(id: number): void {
    this.byId.delete(id);
  }

  /**
   * Ends a statement, or a connection with it.
   *
   * @param by who asks: an account that may not read and write ends its own only
   * @returns whether there was one
   * @throws WireFailure for an id that no connection has; DbError PermissionDenied
   */
  kill(id: number, what: "query" | "connection", by: User): boolean {
    const connection = this.byId.get(id);
    if (by.mode !== "rw" && connection?.user.name !== by.name)
      throw new DbError(StatusCode.PermissionDenied, "User is not authorized to perform this action");
    if (connection === undefined) throw new WireFailure(1094, "HY000", `Unknown thread id: ${id}`);
    const isRunning = connection.cancel();
    if (what === "connection") connection.end();
    return isRunning || what === "connection";
  }
}
