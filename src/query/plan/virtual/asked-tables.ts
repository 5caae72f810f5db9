/**
 * What tables that list tables need of those whose rows are elsewhere: it is asked for first, of all at once. A list does not fail for a
 * part of a table that does not answer, such as a shard without an owner: what that part would say is NULL.
 */
import { DbError } from "../../../base/error.ts";
import { waitWithin } from "../../../base/scheduler/wait-within.ts";
import type { TableId } from "../../../base/units.ts";
import type { Table } from "../../../table/catalog.ts";

/** Longest wait for all of them. Reason: an owner answers within milliseconds, and people and pages of a browser wait for the list. */
const WAIT_MILLIS = 3000;

/** Tables that did not answer. */
export type Unanswered = ReadonlySet<TableId>;

/**
 * Asks tables. Undefined: there is nobody to ask, what is known is right.
 *
 * @param millis longest wait
 * @throws DbError Cancelled
 */
export function asked(
  tables: Iterable<Table>,
  kind: "figures" | "files",
  signal: AbortSignal,
  millis: number = WAIT_MILLIS,
): Promise<Unanswered> | undefined {
  const elsewhere = [...tables].filter((table) => table.refreshed !== undefined);
  return elsewhere.length === 0 ? undefined : unansweredOf(elsewhere, kind, signal, millis);
}

async function unansweredOf(tables: readonly Table[], kind: "figures" | "files", signal: AbortSignal, millis: number): Promise<Unanswered> {
  const open = new Set(tables.map(({ schema }) => schema.id));
  const answers = tables.map(async (table) => {
    try {
      await table.refreshed?.(kind);
      open.delete(table.schema.id);
    } catch (thrown) {
      if (!(thrown instanceof DbError)) throw thrown; // The shard's trouble stays in `open`; anything else is a mistake of ours.
    }
  });
  const late = new Error("late");
  try {
    await waitWithin(Promise.all(answers), { millis, late: () => late, signal });
  } catch (thrown) {
    if (thrown !== late) throw thrown;
  }
  return new Set(open); // Those that answer later change nothing for who has read this.
}
