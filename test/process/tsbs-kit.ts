/**
 * The TSBS kit that lies beside the repository: sample lines, and queries with results that no time-series server computed.
 * Its README says what is in it and how results are compared.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const KIT = resolve(import.meta.dir, "../../../shared/tsbs");
const LINE_FEED = 0x0a;

/** How the cells of a column are compared. */
export type CellType = "string" | "int" | "float" | "timestamp_ms";

/** A cell of an expected result; timestamps are whole milliseconds. */
export type ExpectedCell = string | number | null;

/** One query and its result. */
export interface TsbsQuery {
  readonly type: string;
  /** 0..4 in its type. */
  readonly n: number;
  readonly sql: string;
  /** False: the rows are a multiset. */
  readonly ordered: boolean;
  readonly columns: readonly string[];
  readonly types: readonly CellType[];
  /** The whole result, unless it is long. */
  readonly rows?: readonly (readonly ExpectedCell[])[];
  /** Of a long result: how many rows, the hash of all, and the first in canonical order. */
  readonly row_count?: number;
  readonly sha256?: string;
  readonly sample?: readonly (readonly ExpectedCell[])[];
}

/** Whether the kit is there. */
export const HAS_KIT: boolean = existsSync(join(KIT, "queries-10x24h.jsonl"));

/** All queries, in the order of the file. */
export async function kitQueries(): Promise<readonly TsbsQuery[]> {
  const text = await Bun.file(join(KIT, "queries-10x24h.jsonl")).text();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TsbsQuery);
}

/** A sample of lines, unpacked. */
export async function kitLines(name: "cpu-only-10x24h" | "devops-5x1h"): Promise<Uint8Array> {
  return Bun.zstdDecompressSync(await Bun.file(join(KIT, `${name}.lp.zst`)).bytes());
}

/** Cuts lines into batches of `lineCount` lines; views of the same bytes. */
export function batchesOf(lines: Uint8Array, lineCount: number): readonly Uint8Array[] {
  const batches: Uint8Array[] = [];
  let start = 0;
  while (start < lines.length) {
    let end = start;
    for (let line = 0; line < lineCount && end < lines.length; line++) {
      const feed = lines.indexOf(LINE_FEED, end);
      end = feed < 0 ? lines.length : feed + 1;
    }
    batches.push(lines.subarray(start, end));
    start = end;
  }
  return batches;
}

/** Number of lines of each measurement. */
export function measurementCounts(lines: Uint8Array): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of new TextDecoder().decode(lines).trimEnd().split("\n")) {
    const name = line.slice(0, line.indexOf(","));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
