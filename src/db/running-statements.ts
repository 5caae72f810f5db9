/**
 * The statements that run, for SHOW PROCESSLIST, `information_schema.process_list` and KILL. As many as requests run at a time, which
 * the servers bound; each holds the beginning of its text.
 */
import type { Clock } from "../base/clock.ts";
import { DbError } from "../base/error.ts";
import { cancelledWith, type Deadline } from "../base/scheduler/cancel.ts";
import { StatusCode } from "../base/status-code.ts";
import { maskSecrets } from "../query/sql/print/secret-text.ts";
import type { RunningStatement } from "../query/system-facts.ts";

/** Characters of a text that are kept. Reason: an INSERT may have megabytes. */
const QUERY_CHARACTERS_MAX = 4096;
const NO_DEADLINE: Deadline = { millis: 0, key: "" };

interface Entry {
  /** Name of the account. */
  readonly user: string;
  readonly statement: RunningStatement;
  readonly controller: AbortController;
}

/** A statement that has begun. */
export interface BegunStatement {
  /** The beginning of its text, without secrets. */
  readonly query: string;
  /** Fires with `parent`, at the deadline, or when the statement is killed. */
  readonly signal: AbortSignal;
  /** Takes it off the list; its signal no longer fires. */
  end(): void;
}

/** See the file header. */
export class RunningStatements {
  private readonly clock: Clock;
  private readonly entries: Map<string, Entry> = new Map();
  private next = 1;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Puts a statement on the list; the caller ends it. */
  begin(
    text: string,
    { database, client = "", user }: { readonly database: string; readonly client?: string; readonly user: { readonly name: string } },
    parent: AbortSignal,
    deadline: Deadline = NO_DEADLINE,
  ): BegunStatement {
    const id = String(this.next++);
    const { controller, done } = cancelledWith(parent, deadline);
    const query = shownText(text);
    const startMillis = Number(this.clock.nowNanos() / 1_000_000n);
    this.entries.set(id, { user: user.name, statement: { id, database, query, client, startMillis }, controller });
    return {
      query,
      signal: controller.signal,
      end: () => {
        this.entries.delete(id);
        done();
      },
    };
  }

  /** How many run. */
  get size(): number {
    return this.entries.size;
  }

  /** Oldest first. @param of the account whose statements they are; undefined: all */
  list(of?: string): readonly RunningStatement[] {
    const entries = [...this.entries.values()];
    return entries.filter(({ user }) => of === undefined || user === of).map(({ statement }) => statement);
  }

  /**
   * Ends a statement; false when there is none of that id.
   *
   * @param of the account that may end its own only; undefined: any
   * @throws DbError PermissionDenied for an id that is not one of its own, whether there is such a statement or not
   */
  kill(id: string, of?: string): boolean {
    const entry = this.entries.get(id);
    if (of !== undefined && entry?.user !== of) {
      const why = "you have no statement of that id; to end those of others takes an account that may read and write";
      throw new DbError(StatusCode.PermissionDenied, `cannot kill statement ${id.slice(0, 20)}: ${why}`);
    }
    entry?.controller.abort(new DbError(StatusCode.Cancelled, `Query has been cancelled: statement ${id} was killed`));
    return entry !== undefined;
  }
}

/** Characters behind those kept that are looked at, so that a secret which the end cuts is seen as one. */
const BEHIND_CHARACTERS = 1024;

/** The beginning of a text, without secrets. */
export function shownText(text: string): string {
  const masked = maskSecrets(text.slice(0, QUERY_CHARACTERS_MAX + BEHIND_CHARACTERS));
  return masked.slice(0, QUERY_CHARACTERS_MAX) + (text.length > QUERY_CHARACTERS_MAX ? "…" : "");
}
