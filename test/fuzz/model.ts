/**
 * What must be in the tables: rows that were acknowledged, by the name that their table has now. Rows of requests that were refused, or
 * that were sent while a statement took their table away, may be there or not; as they are found first, they stay.
 */
import type { SentRow, TableRows } from "./rows.ts";
import { valueText } from "./rows.ts";
import type { Effect } from "./statements.ts";

/** A row as it was read. */
export interface FoundRow {
  readonly id: string;
  /** Texts of all cells: which column a value is in depends on who made the table. */
  readonly cells: ReadonlySet<string>;
}

/** See the file header. */
export class Model {
  /** Rows that must be there, by table and id. */
  private readonly sure: Map<string, Map<string, SentRow>> = new Map();
  /** Rows that may be in any table. */
  private readonly open: Map<string, SentRow> = new Map();

  /** Number of rows that must be in a table. */
  countOf(table: string): number {
    return this.sure.get(table)?.size ?? 0;
  }

  /** The id of a row that must be in a table, the first or a later one. */
  someId(table: string, position: number): string | undefined {
    return [...(this.sure.get(table)?.keys() ?? [])][position];
  }

  /** Notes rows that were sent; `isKept`: the answer said so, and nothing took their table away meanwhile. */
  sent(tables: readonly TableRows[], isKept: (table: string) => boolean): void {
    for (const { table, rows } of tables) {
      const into = isKept(table) ? this.tableOf(table) : this.open;
      for (const row of rows) into.set(row.id, row);
    }
  }

  /** Applies a statement that succeeded, before the rows that were sent beside it are noted. */
  apply(effect: Effect): void {
    switch (effect.kind) {
      case "none":
        return;
      case "clear":
        this.sure.delete(effect.table);
        return;
      case "delete":
        this.sure.get(effect.table)?.delete(effect.id);
        return;
      case "rename": {
        const rows = this.sure.get(effect.table);
        this.sure.delete(effect.table);
        if (rows !== undefined) this.sure.set(effect.to, rows);
      }
    }
  }

  /** Compares a table with what must be there, and settles rows that may be. Returns what is wrong. */
  compare(table: string, found: readonly FoundRow[]): string[] {
    const wrong: string[] = [];
    const sure = this.tableOf(table);
    const seen = new Set<string>();
    for (const { id, cells } of found) {
      const row = sure.get(id) ?? this.open.get(id);
      if (seen.has(id)) wrong.push(`row ${id} is in ${table} twice`);
      seen.add(id);
      if (row === undefined) wrong.push(`row ${id} should not be in ${table}`);
      else if (!cells.has(String(row.value)) && !cells.has(valueText(row)))
        wrong.push(`row ${id} of ${table} has lost its value ${row.value}`);
      if (row !== undefined) sure.set(id, row);
      this.open.delete(id);
    }
    for (const id of sure.keys()) if (!seen.has(id)) wrong.push(`row ${id} of ${table} was acknowledged and is gone`);
    return wrong;
  }

  /** All tables were compared: rows that were in none must not come back. */
  settle(): void {
    this.open.clear();
  }

  private tableOf(table: string): Map<string, SentRow> {
    const known = this.sure.get(table) ?? new Map<string, SentRow>();
    this.sure.set(table, known);
    return known;
  }
}
