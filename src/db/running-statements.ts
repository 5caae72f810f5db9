/**
 * The statements that run in this process, for SHOW PROCESSLIST, `information_schema.process_list` and KILL. As many as requests run at a
 * time, which the servers bound; each holds the beginning of its text.
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

/**
 * What became of a statement that was to end: "none": there is none of that id; "denied": it is not one of the account's own, whether
 * there is such a statement or not.
 */
export type KillOutcome = "killed" | "none" | "denied";

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
  private readonly frontend: string;
  private readonly entries: Map<string, Entry> = new Map();
  private next = 1;

  /** @param frontend name of this process among others; empty: there are none */
  constructor(clock: Clock, frontend = "") {
    this.clock = clock;
    this.frontend = frontend;
  }

  /** Puts a statement on the list; the caller ends it. */
  begin(
    text: string,
    { database, client = "", user }: { readonly database: string; readonly client?: string; readonly user: { readonly name: string } },
    parent: AbortSignal,
    deadline: Deadline = NO_DEADLINE,
  ): BegunStatement {
    const { frontend } = this;
    const id = this.idOf(String(this.next++));
    const { controller, done } = cancelledWith(parent, deadline);
    const query = shownText(text);
    const startMillis = Number(this.clock.nowNanos() / 1_000_000n);
    this.entries.set(id, { user: user.name, statement: { id, frontend, database, query, client, startMillis }, controller });
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

  /** Ends a statement. @param id a number alone is of this process @param of the account that may end its own only; undefined: any */
  kill(id: string, of?: string): KillOutcome {
    const full = /^\d+$/.test(id) ? this.idOf(id) : id;
    const entry = this.entries.get(full);
    if (of !== undefined && entry?.user !== of) return "denied";
    entry?.controller.abort(new DbError(StatusCode.Cancelled, `Query has been cancelled: statement ${full} was killed`));
    return entry === undefined ? "none" : "killed";
  }

  private idOf(number: string): string {
    return this.frontend === "" ? number : `${this.frontend}/${number}`;
  }
}

/** Characters behind those kept that are looked at, so that a secret which the end cuts is seen as one. */
const BEHIND_CHARACTERS = 1024;

/** The beginning of a text, without secrets. */
export function shownText(text: string): string {
  const masked = maskSecrets(text.slice(0, QUERY_CHARACTERS_MAX + BEHIND_CHARACTERS));
  return masked.slice(0, QUERY_CHARACTERS_MAX) + (text.length > QUERY_CHARACTERS_MAX ? "…" : "");
}
