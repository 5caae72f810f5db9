/**
 * What of a batch is refused, table by table, while the rest of it goes on.
 *
 * Only what the sender of a table's rows has to mend is one table's affair: everything else (a disk, a limit, a bug) ends the whole batch.
 */
import { DbError } from "../../base/error.ts";
import { httpStatusOf } from "../../base/status-code.ts";
import { PartlyWritten } from "../../table/partly-written.ts";
import type { SchemaStep } from "../schema/catalog-plans.ts";

/** Tables that an error names. Reason: an answer must stay small. */
const NAMED_MAX = 8;

/** The status that tells a sender to mend its request. */
const BAD_REQUEST = 400;

/** What has to be made before rows of one table are taken. */
export interface TableSteps {
  /** Name of the table, or `carrierName` of one. */
  readonly table: string;
  /** Not empty. */
  readonly steps: readonly SchemaStep[];
}

/** What a physical table is called among refused tables: a metric may have the same name, and is another matter. */
export function carrierName(table: string): string {
  return `\0${table}`; // No name holds it.
}

/** See the file header. Belongs to one batch. */
export class WriteRefusals {
  /** Whether the first refusal refuses the batch. */
  readonly isWhole: boolean;
  private readonly errors: Map<string, DbError> = new Map();
  private rows = 0;

  constructor(isWhole: boolean) {
    this.isWhole = isWhole;
  }

  /** Names of the tables that were refused. */
  get tables(): ReadonlyMap<string, DbError> {
    return this.errors;
  }

  /** Rows that were left out. */
  get rowCount(): number {
    return this.rows;
  }

  /** Forgets all: the tables have changed, and are looked at again. */
  clear(): void {
    this.errors.clear();
    this.rows = 0;
  }

  /**
   * Takes what was thrown for a table's rows.
   *
   * @param rows that are left out with it; 0 when they are counted later
   * @throws what was thrown, where that is not one table's affair, or refuses the batch
   */
  refuse(table: string, thrown: unknown, rows = 0): void {
    if (this.isWhole || !isRefusal(thrown)) throw thrown;
    if (!this.errors.has(table)) this.errors.set(table, thrown);
    this.rows += rows;
  }

  /** Adds the steps that `find` has for a table, if there are any, to `made`; refuses the table for what it throws, as `refuse` does. */
  collect(made: TableSteps[], table: string, find: () => readonly SchemaStep[]): void {
    try {
      const steps = find();
      if (steps.length > 0) made.push({ table, steps });
    } catch (error) {
      this.refuse(table, error);
    }
  }

  /** Counts rows of refused tables that were taken out of their batch. */
  leaveOut(rows: number): void {
    this.rows += rows;
  }

  /** What the sender is told; undefined when nothing was refused. */
  error(rowCount: number, refusedRows: number): DbError | undefined {
    const [first, ...others] = this.errors.values();
    if (first === undefined) return undefined;
    const named = [first, ...others.slice(0, NAMED_MAX - 1)].map(({ message }) => message);
    if (others.length >= NAMED_MAX) named.push(`and ${others.length + 1 - NAMED_MAX} more tables`);
    const whole = others.length === 0 ? first : new DbError(first.code, named.join("; "), { cause: first });
    return rowCount === 0 ? whole : new PartlyWritten(whole, rowCount, refusedRows);
  }
}

/** Whether something thrown tells the sender of some rows to mend them. */
export function isRefusal(thrown: unknown): thrown is DbError {
  return thrown instanceof DbError && httpStatusOf(thrown.code) === BAD_REQUEST;
}
