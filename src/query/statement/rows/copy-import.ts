/**
 * Rows of files → writes of a table, in parts that are durable one after another. Columns are matched by name: what a file has besides is
 * left out, what it lacks takes its default or NULL.
 */
import { ownRowsWritten } from "./own-rows-written.ts";
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import { DbError, restated, invalidArguments } from "../../../base/error.ts";
import type { Scalar } from "../../../column/vector.ts";
import { RowBatchBuilder } from "../../../table/rows/row-batch-builder.ts";
import type { TimeRange } from "../../../table/scan.ts";
import { type ColumnSchema, timeIndexOf } from "../../../table/schema.ts";
import { type Converter, converterOf } from "../../copy/column-converter.ts";
import type { CopyOptions } from "../../copy/copy-options.ts";
import type { FileColumn, FileRows } from "../../copy/file-rows.ts";
import { IMPORT_BYTES, IMPORT_ROWS } from "../../copy/limits.ts";
import type { QueryContext } from "../../query-context.ts";
import { completeRow, type Given, rowColumns, type Target } from "./complete-row.ts";

/** A column of the table and where its values come from. */
interface Source {
  readonly column: ColumnSchema;
  readonly values: readonly Scalar[];
  readonly isAbsent: FileColumn["isAbsent"];
  readonly convert: Converter;
}

/** Writes rows of files. Give it rows until it is full, then `finish`. */
export class CopyImport {
  /** Rows written or about to be. */
  rowCount = 0;
  /** Rows written. */
  writtenRows = 0;
  private readonly target: Target;
  private readonly database: string;
  private readonly context: QueryContext;
  private readonly options: CopyOptions;
  private readonly range: TimeRange;
  private readonly limit: number;
  private readonly timePosition: number;
  private builder: RowBatchBuilder;
  private bytes = 0;

  constructor(target: Target, database: string, context: QueryContext, options: CopyOptions, range: TimeRange, limit: number) {
    this.target = target;
    this.database = database;
    this.context = context;
    this.options = options;
    this.range = range;
    this.limit = limit;
    this.timePosition = target.schema.columns.indexOf(timeIndexOf(target.schema));
    this.builder = new RowBatchBuilder(target.schema.name, rowColumns(target.schema));
  }

  /** Whether no more rows are wanted. */
  get isFull(): boolean {
    return this.rowCount >= this.limit;
  }

  /** Takes rows of a file. @throws DbError InvalidArguments naming file, place and column */
  async take(rows: FileRows, location: string): Promise<void> {
    throwIfCancelled(this.context.signal); // Of a long file it may be that no row is in the range.
    const sources = this.sourcesOf(rows, location);
    // Columns that the file lacks are left out of every row.
    const target: Target = { ...this.target, named: sources.map(({ column }) => column) };
    for (let row = 0; row < rows.rowCount && !this.isFull; row++) {
      const values = this.rowOf(sources, target, rows, row, location);
      if (values === undefined) continue;
      const time = values[this.timePosition];
      if (typeof time === "bigint" && (time < this.range.start || time >= this.range.end)) continue;
      this.builder.add(values);
      this.rowCount++;
      for (const value of values) if (typeof value === "string" || value instanceof Uint8Array) this.bytes += value.length;
      if (this.builder.rowCount >= IMPORT_ROWS || this.bytes >= IMPORT_BYTES) await this.flush();
    }
  }

  /** Writes what is left. */
  async finish(): Promise<void> {
    await this.flush();
  }

  private sourcesOf(rows: FileRows, location: string): readonly Source[] {
    const sources: Source[] = [];
    for (const [i, column] of this.target.schema.columns.entries()) {
      const found = rows.columns[i];
      if (found === undefined) continue;
      try {
        sources.push({
          column,
          values: found.values,
          isAbsent: found.isAbsent,
          convert: converterOf(found.type, column.type, this.options),
        });
      } catch (thrown) {
        throw placed(thrown, `'${location}': column ${column.name}`);
      }
    }
    return sources;
  }

  /** Undefined for a bad row that is to be left out. */
  private rowOf(sources: readonly Source[], target: Target, rows: FileRows, row: number, location: string): readonly Scalar[] | undefined {
    let name = "";
    try {
      const given = sources.map(({ column, values, isAbsent, convert }): Given => {
        ({ name } = column);
        if (isAbsent?.(row) === true) return "default";
        return { value: convert(values[row]) };
      });
      name = "";
      return completeRow(given, target);
    } catch (thrown) {
      if (!(thrown instanceof DbError)) throw thrown;
      if (this.options.skipBadRecords) return undefined;
      throw placed(thrown, `'${location}': ${rows.placeOf(row)}${name === "" ? "" : `, column ${name}`}`);
    }
  }

  private async flush(): Promise<void> {
    const { context, target } = this;
    throwIfCancelled(context.signal);
    if (this.builder.rowCount === 0) return;
    // Rows of an "instant" table expire as they arrive, so they are checked and not written.
    if (target.schema.options["ttl"] !== "instant") {
      await context.admit?.(context.signal);
      await ownRowsWritten(context, this.database, this.builder.batch());
    }
    this.writtenRows += this.builder.rowCount;
    this.builder = new RowBatchBuilder(target.schema.name, rowColumns(target.schema));
    this.bytes = 0;
  }
}

/** The failure of a copy, with what it leaves behind: writes before it are durable. */
export function withWrittenRows(thrown: unknown, { writtenRows }: CopyImport): unknown {
  if (!(thrown instanceof DbError) || writtenRows === 0) return thrown;
  return restated(thrown, `${thrown.message}; ${writtenRows} rows were written before and stay`);
}

/** An error with the place it happened at. */
function placed(thrown: unknown, where: string): unknown {
  if (!(thrown instanceof DbError)) return thrown;
  return invalidArguments(`cannot copy from ${where}: ${thrown.message}`, thrown);
}
