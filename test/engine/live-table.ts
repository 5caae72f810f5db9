/** A table of a random life beside its model: its rows, and what they are written and deleted by. */
import type { Random } from "../../bench/macro/random.ts";
import { RowBatchBuilder } from "../../src/table/rows/row-batch-builder.ts";
import type { TableDefinition } from "../../src/table/schema.ts";
import type { WriteBatch } from "../../src/table/write-batch.ts";
import { type ModelRow, TableModel } from "./model.ts";
import { type RandomTable, randomLineTable, randomRows, randomTable } from "./random-table.ts";

const ROWS_MAX = 60;
/** Now and then a write is large enough for several pages and batches. */
const ROWS_LARGE = 6000;
const TABLE_ROWS_MAX = 20_000;

/** See the file header. */
export interface LiveTable {
  /** Whether its rows come as line protocol through one decoder, which makes new fields on the way. */
  readonly isLines: boolean;
  readonly random: RandomTable;
  readonly model: TableModel;
  name: string;
  /** Its `ttl` option, if it has one. */
  ttl: string | undefined;
  /** Columns whose type changed: once each, since a value is cast from the type it was last written to a file with. */
  readonly retyped: Set<string>;
  nextColumn: number;
}

/** Rows to be written; fields that are not `given` take their defaults. */
export interface RowsToWrite {
  readonly given: ReadonlySet<string>;
  readonly rows: readonly ModelRow[];
}

/** A table to be, a third of them written as line protocol. */
export function newLiveTable(random: Random, name: string, timeName: string): LiveTable {
  const isLines = random.below(3) === 0;
  const table = isLines ? randomLineTable(random, name, timeName) : randomTable(random, name, timeName);
  return {
    isLines,
    random: table,
    model: new TableModel(table.columns, table.mode),
    name,
    ttl: undefined,
    retyped: new Set<string>(),
    nextColumn: table.columns.length,
  };
}

/** What makes it. */
export function definitionOf({ name, random: { columns, mode }, model }: LiveTable, database: string): TableDefinition {
  const options: Record<string, string> = mode === "append" ? { append_mode: "true" } : { merge_mode: mode };
  return { database, name, columns, primaryKey: model.tagNames, engine: "mito", options };
}

/** Random rows with some of the table's fields. @param rowsLarge how many they are now and then */
export function rowsFor(random: Random, { model, random: table }: LiveTable, rowsLarge: number = ROWS_LARGE): RowsToWrite {
  const fields = model.columns.filter(({ semantic }) => semantic === "field").map(({ name }) => name);
  const chosen = fields.filter(() => random.below(4) > 0);
  const isLarge = random.below(50) === 0 && model.rowCount < TABLE_ROWS_MAX;
  const rows = randomRows(random, table, model, chosen, isLarge ? rowsLarge : 1 + random.below(ROWS_MAX));
  return { given: new Set(chosen), rows };
}

/** Rows as a write of a client that names its columns. */
export function rowBatch({ name, model }: LiveTable, { given, rows }: RowsToWrite): WriteBatch {
  const columns = model.columns.filter(({ name: column, semantic }) => semantic !== "field" || given.has(column));
  const builder = new RowBatchBuilder(name, columns);
  for (const row of rows) builder.add(columns.map(({ name: column }) => row.get(column)));
  return builder.batch();
}

/** Tags and times of rows, as a delete takes them. */
export function keyBatch({ name, model }: LiveTable, keys: readonly ModelRow[]): WriteBatch {
  const columns = model.columns.filter(({ semantic }) => semantic !== "field");
  const builder = new RowBatchBuilder(name, columns);
  for (const key of keys) builder.add(columns.map(({ name: column }) => key.get(column)));
  return builder.batch();
}
