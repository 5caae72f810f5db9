/** What the tables of a life hold: the expected state, and the state that an engine answers, in the same text. */
import type { Engine } from "../../../src/engine/engine.ts";
import { isPhysicalTable } from "../../../src/table/metric.ts";
import { read } from "../../engine/lines.ts";

/** Table → rows as `'host'|v|time`, keyed by host and time. */
export type State = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Changes a state that is its own. */
export type StateChange = (state: Map<string, Map<string, string>>) => void;

/** A state after a change. */
export function changed(state: State, change: StateChange): State {
  const copy = new Map([...state].map(([table, rows]) => [table, new Map(rows)]));
  change(copy);
  return copy;
}

/** Sets rows `[host, v, time]` of a table. */
export function rows(table: string, ...values: readonly (readonly [host: string, v: number, time: number])[]): StateChange {
  return (state) => {
    const held = state.get(table) ?? new Map<string, string>();
    state.set(table, held);
    for (const [host, v, time] of values) held.set(`${host} ${time}`, `'${host}'|${v}|${time}`);
  };
}

/** A state as text, one line a table. */
export function textOfState(state: State): string {
  return [...state]
    .map(([table, held]) => `${table}: ${[...held.values()].sort().join(" ")}`)
    .sort()
    .join("\n");
}

/** The same of what an engine answers, every row as often as it is there. */
export async function textOfEngine(engine: Engine): Promise<string> {
  const lines: string[] = [];
  for (const { schema } of engine.tables("public")) {
    if (isPhysicalTable(schema)) continue; // Its rows are those of the logical tables.
    const value = schema.columns.some(({ name }) => name === "v") ? "v" : "greptime_value";
    const found = await read(engine, schema.name, { projection: ["host", value, "greptime_timestamp"] });
    lines.push(`${schema.name}: ${found.sort().join(" ")}`);
  }
  return lines.sort().join("\n");
}
