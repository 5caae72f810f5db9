/**
 * The statements that run, for SHOW PROCESSLIST, `information_schema.process_list` and KILL. As many as requests run at a time, which
 * the servers bound; each holds the beginning of its text.
 */
import type { Clock } from "../base/clock.ts";
import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import type { RunningStatement } from "../query/system-facts.ts";

/** Characters of a text that are kept. Reason: an INSERT may have megabytes. */
const QUERY_CHARACTERS_MAX = 4096;

interface Entry {
  readonly statement: RunningStatement;
  readonly controller: AbortController;
}

/** A statement that has begun. */
export interface BegunStatement {
  /** The beginning of its text, without secrets. */
  readonly query: string;
  /** Fires with `parent`, or when the statement is killed. */
  readonly signal: AbortSignal;
  /** Takes it off the list. */
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
    { database, client = "" }: { readonly database: string; readonly client?: string },
    parent: AbortSignal,
  ): BegunStatement {
    const id = String(this.next++);
    const controller = new AbortController();
    const query = shown(text);
    const startMillis = Number(this.clock.nowNanos() / 1_000_000n);
    this.entries.set(id, { statement: { id, database, query, client, startMillis }, controller });
    return { query, signal: AbortSignal.any([parent, controller.signal]), end: () => this.entries.delete(id) };
  }

  /** How many run. */
  get size(): number {
    return this.entries.size;
  }

  /** Oldest first. */
  list(): readonly RunningStatement[] {
    return [...this.entries.values()].map(({ statement }) => statement);
  }

  /** Ends a statement; false when there is none of that id. */
  kill(id: string): boolean {
    const entry = this.entries.get(id);
    entry?.controller.abort(new DbError(StatusCode.Cancelled, `Query has been cancelled: statement ${id} was killed`));
    return entry !== undefined;
  }
}

/** Options of statements that hold secrets, such as those of CONNECTION; the text may end within one. */
const SECRETS =
  /((?:secret|password|token|credential|account_key|access_key)\w*['"`]?\s*=\s*)(?:'(?:[^']|'')*'?|"(?:[^"]|"")*"?|[^\s'",)]+)/gi;

/** The beginning of a text, without secrets. */
function shown(text: string): string {
  const cut = text.length > QUERY_CHARACTERS_MAX ? `${text.slice(0, QUERY_CHARACTERS_MAX)}…` : text;
  return cut.replace(SECRETS, "$1'***'");
}
