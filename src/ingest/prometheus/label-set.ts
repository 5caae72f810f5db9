/**
 * The labels of a new series, checked: its metric, its tags, and where it goes (contract ingest.md 2.2).
 */
import { SERIES_KEY_BYTES_MAX } from "../../base/limits.ts";
import { nameFlaw, shownName } from "../../table/names.ts";
import type { TagSet } from "../../table/series-dictionary.ts";
import { invalid, undecodable } from "./failure.ts";
import type { RemoteWriteOptions } from "./types.ts";

/** Name of the label that holds the metric. */
export const METRIC = "__name__";
/** A series, and the place that its labels name. */
export interface LabelledSeries {
  readonly tags: TagSet;
  readonly database: string | undefined;
  readonly physicalTable: string | undefined;
}

/** Sorts labels into metric, tags and places. Labels without a value are as if they were absent. @throws DbError InvalidArguments */
export function labelledSeries(names: readonly string[], values: readonly string[], options: RemoteWriteOptions): LabelledSeries {
  const seen = new Set<string>();
  const tags: { names: string[]; values: string[] } = { names: [], values: [] };
  const places = new Map<string, string>();
  let metric = "";
  let bytes = 0;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const value = values[i] as string;
    const flaw = nameFlaw(name);
    if (flaw !== undefined) throw undecodable(`Invalid label name: \`${shownName(name)}\`: ${flaw}`);
    if (seen.has(name)) throw invalid(`the label ${name} occurs twice in a series`);
    seen.add(name);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (value === "") continue;
    if (name === METRIC) metric = value;
    else if (isPlace(name)) places.set(name, value);
    else if (name === options.timeColumn || name === options.valueColumn) {
      throw invalid(`the label ${name} has the name of a column of every metric`);
    } else {
      tags.names.push(name);
      tags.values.push(value);
    }
  }
  if (bytes > SERIES_KEY_BYTES_MAX)
    throw invalid(`the labels of a series take ${bytes} bytes; at most ${SERIES_KEY_BYTES_MAX} are allowed`);
  if (metric === "") throw invalid("a series has no metric name: the label __name__ is missing or empty");
  const physicalTable = places.get("__physical_table__") ?? places.get("x_greptime_physical_table");
  for (const table of [metric, physicalTable]) {
    if (table !== undefined && !options.acceptsTable(table)) throw invalid(`Invalid table name: ${shownName(table)}`);
  }
  const database = places.get("__schema__") ?? places.get("__database__") ?? places.get("x_greptime_database");
  return { tags: { table: metric, ...tags }, database, physicalTable };
}

/** Whether a label says where the series goes, and is no tag. */
export function isPlace(name: string): boolean {
  switch (name) {
    case "__schema__":
    case "__database__":
    case "x_greptime_database":
    case "__physical_table__":
    case "x_greptime_physical_table":
      return true;
    default:
      return false;
  }
}

/** Reads texts as the mode says. */
export class TextReader {
  private readonly decoder: TextDecoder;

  constructor({ validation }: RemoteWriteOptions) {
    this.decoder = new TextDecoder("utf-8", { fatal: validation === "strict", ignoreBOM: true });
  }

  /** @throws DbError InvalidArguments for bytes that are not UTF-8 */
  text(bytes: Uint8Array, start: number, end: number): string {
    try {
      return this.decoder.decode(bytes.subarray(start, end));
    } catch (error) {
      throw undecodable(`the text at byte ${start} is not UTF-8`, error);
    }
  }
}
