/** Reads that are no SQL statements, run as statements are: listed, killed, timed, counted. */
import type { Clock } from "../base/clock.ts";
import { MemoryBudget } from "../base/memory/memory-budget.ts";
import type { MemoryPool } from "../base/memory/server-memory.ts";
import { soonerOf } from "../base/scheduler/cancel.ts";
import type { QueryPermit, ReadAsk } from "./read-permit.ts";
import type { RunningStatements } from "./running-statements.ts";
import type { Session } from "./session.ts";
import type { StatementWatch } from "./statement-watch.ts";
import { TimedStatement } from "./timed-statement.ts";

/** What a read is run by. */
interface QueryRoom {
  readonly running: RunningStatements;
  readonly clock: Clock;
  /** 0 = no limit. */
  readonly timeoutMillis: number;
  readonly memoryBytesMax: number;
  readonly pool?: MemoryPool;
  readonly watch?: StatementWatch | undefined;
}

/** Puts a read on the list of statements; whoever asked calls its `done`. */
export function openQuery({ kind, text, times, deadline }: ReadAsk, session: Session, room: QueryRoom): QueryPermit {
  const { running, clock, timeoutMillis, memoryBytesMax, pool, watch } = room;
  const { database, client = "", trace } = session;
  const timed = new TimedStatement(clock);
  const ofAll = { millis: timeoutMillis, key: "query.timeout" };
  const begun = running.begin(text, session, session.signal, deadline === undefined ? ofAll : soonerOf(ofAll, deadline));
  const { signal } = begun;
  const account = pool?.account();
  const { reserve, release } = new MemoryBudget(memoryBytesMax, account);
  const end = (): void => {
    begun.end();
    account?.close();
    const { workedMillis, rows } = timed;
    const took = { rows, memoryBytes: account?.peakBytes ?? 0, spilledBytes: 0, ...(times === undefined ? {} : { times }) };
    watch?.ended({ kind, database, client, trace, query: begun.query, ...timed.end(signal), workedMillis, ...took });
  };
  return {
    signal,
    reserve,
    release,
    over: (pieces, rowsOf) => timed.over(pieces, rowsOf),
    gave: (rows) => timed.gave(rows),
    failed: (thrown) => timed.failed(thrown),
    done: end,
  };
}
