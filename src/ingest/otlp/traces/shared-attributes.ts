/**
 * Attributes of resources and scopes, which all spans under them have: runs of rows with one value, not a cell a span.
 */
import type { DataType } from "../../../column/data-type.ts";
import { invalidArguments } from "../../../base/error.ts";
import { TABLE_COLUMNS_MAX } from "../../../base/limits.ts";
import type { Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { TextColumn } from "../columns/text-column.ts";
import type { Kept, Sent, SentKind } from "./reconcile.ts";

/** Attributes by key, of equal ones the last; empty values are left out. */
export type SentAttributes = ReadonlyMap<string, Sent>;

/** Rows `[from, to)` that have one value. */
export interface Run {
  readonly from: number;
  readonly to: number;
  readonly sent: Sent;
}

/** One attribute: the kinds that were sent, and which rows share each value. */
export interface SharedColumn {
  readonly name: string;
  readonly kinds: Set<SentKind>;
  readonly runs: Run[];
}

/** See the file header. */
export class SharedAttributes {
  columns: Map<string, SharedColumn> = new Map();
  private readonly prefix: string;
  private readonly left: string | undefined;

  /** @param left a key that is left out */
  constructor(prefix: string, left?: string) {
    this.prefix = prefix;
    this.left = left;
  }

  /** Forgets everything. */
  reset(): void {
    this.columns = new Map();
  }

  /** Gives the rows `[from, to)` these attributes. @throws DbError InvalidArguments when there are more than a table takes */
  add(attributes: SentAttributes, from: number, to: number): void {
    if (from === to) return;
    for (const [key, sent] of attributes) {
      if (key === this.left) continue;
      let column = this.columns.get(key);
      if (column === undefined) {
        if (this.columns.size === TABLE_COLUMNS_MAX) {
          const why = `its resources or scopes have more than ${TABLE_COLUMNS_MAX} different attributes, each of which is a column`;
          throw invalidArguments(`cannot take the request: ${why}`);
        }
        column = { name: this.prefix + key, kinds: new Set(), runs: [] };
        this.columns.set(key, column);
      }
      column.kinds.add(sent.kind);
      column.runs.push({ from, to, sent });
    }
  }
}

/**
 * The vector of runs under a type; `keptOf` converts a value once a run, undefined is NULL.
 *
 * @throws DbError InvalidArguments when it exceeds `bytesMax` bytes of text
 */
export function vectorOfRuns(type: DataType, runs: readonly Run[], rowCount: number, bytesMax: number, keptOf: (run: Run) => Kept): Vector {
  if (type.kind === "string" || type.kind === "json") {
    const column = new TextColumn();
    column.reset(bytesMax);
    let at = 0;
    for (const run of runs) {
      const kept = keptOf(run);
      column.repeat(undefined, run.from - at);
      column.repeat(kept === undefined ? undefined : Buffer.from(String(kept)), run.to - run.from);
      at = run.to;
    }
    column.repeat(undefined, rowCount - at);
    return column.vector();
  }
  const values = new Array<Kept>(rowCount).fill(undefined);
  for (const run of runs) values.fill(keptOf(run), run.from, run.to);
  return vectorOf(type, values);
}
