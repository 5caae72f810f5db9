/**
 * Samples of remote write 1.0 as rows of a pipeline (contract ingest.md 2.3): all labels as text, the time as an integer of milliseconds,
 * the value as a float. Samples that are NaN, which say that a series ended, are left out.
 */
import { assert } from "../../base/assert.ts";
import type { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { floatValue, type PipelineObject, setField } from "../common/value.ts";
import type { RemoteWriteBatch, RemoteWriteOptions } from "./types.ts";

/** Rows of one metric, which goes to the table of its name. */
export interface MetricRows {
  readonly table: string;
  readonly rows: PipelineObject[];
}

/** Rows by database (undefined: the request's own) and metric, in the order in which they first occur. Nothing is borrowed. */
export function samplePipelineRows(
  batches: readonly RemoteWriteBatch[],
  columns: Pick<RemoteWriteOptions, "timeColumn" | "valueColumn">,
): ReadonlyMap<string | undefined, readonly MetricRows[]> {
  const databases = new Map<string | undefined, Map<string, MetricRows>>();
  for (const { database, batch } of batches) {
    const metrics = databases.get(database) ?? new Map<string, MetricRows>();
    databases.set(database, metrics);
    for (const write of batch.tables) addWrite(write, batch.dictionary, metrics, columns);
  }
  return new Map([...databases].map(([database, metrics]) => [database, [...metrics.values()]] as const));
}

function addWrite(
  { rowCount, keys, times, fields }: TableWrite,
  dictionary: SeriesDictionary,
  metrics: Map<string, MetricRows>,
  { timeColumn, valueColumn }: Pick<RemoteWriteOptions, "timeColumn" | "valueColumn">,
): void {
  const vector = fields[0]?.vector;
  assert(vector?.kind === "number", "samples are floats");
  for (let row = 0; row < rowCount; row++) {
    const value = vector.values[row] as number; // row < rowCount
    if (Number.isNaN(value)) continue;
    const { table, names, values } = dictionary.tagsOf(keys[row] as number);
    const made: PipelineObject = {};
    for (let i = 0; i < names.length; i++) setField(made, names[i] as string, values[i]); // as many as names
    setField(made, timeColumn, Number(times.base) + (times.offsets[row] as number));
    setField(made, valueColumn, floatValue(value));
    let metric = metrics.get(table);
    if (metric === undefined) {
      metric = { table, rows: [] };
      metrics.set(table, metric);
    }
    metric.rows.push(made);
  }
}

/** The batches without samples that are NaN, for the built-in pipeline, which else changes nothing. Arrays without one stay borrowed. */
export function withoutNaN(batches: readonly RemoteWriteBatch[]): readonly RemoteWriteBatch[] {
  return batches.flatMap((made) => {
    const tables = made.batch.tables.map(numbersOnly).filter(({ rowCount }) => rowCount > 0);
    const rowCount = tables.reduce((sum, table) => sum + table.rowCount, 0);
    return rowCount === 0 ? [] : [{ ...made, batch: { ...made.batch, tables }, rowCount }];
  });
}

function numbersOnly(write: TableWrite): TableWrite {
  const { rowCount, keys, times, fields } = write;
  const field = fields[0];
  assert(field?.vector.kind === "number", "samples are floats");
  const { values } = field.vector;
  const kept = new Uint32Array(rowCount);
  let count = 0;
  for (let row = 0; row < rowCount; row++) if (!Number.isNaN(values[row])) kept[count++] = row;
  if (count === rowCount) return write;
  const rows = kept.subarray(0, count);
  return {
    ...write,
    rowCount: count,
    keys: rows.map((row) => keys[row] as number), // rows are below rowCount
    times: { ...times, offsets: Float64Array.from(rows, (row) => times.offsets[row] as number) },
    fields: [{ ...field, vector: { ...field.vector, values: Float64Array.from(rows, (row) => values[row] as number) } }],
  };
}
