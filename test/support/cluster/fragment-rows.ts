/** Fragments over whole tables, and their rows as text, beside those of a scan on this machine. */
import type { ColumnHeader } from "../../../src/column/batch.ts";
import { type DataType, NULL, STRING } from "../../../src/column/data-type.ts";
import { scalarAt } from "../../../src/column/scalar.ts";
import { typesOfPlan } from "../../../src/cluster/wire/plan-types.ts";
import type { ShardClient } from "../../../src/cluster/wire/shard-client.ts";
import type { FragmentPiece, FragmentRequest } from "../../../src/cluster/wire/shard-request.ts";
import { encodePlan } from "../../../src/query/operator/contract/plan-bytes.ts";
import type { PlanNode } from "../../../src/query/operator/contract/node.ts";
import type { ExecBatch } from "../../../src/query/operator/contract/exec-context.ts";
import { BatchUnpacker } from "../../../src/query/operator/parallel/plain-batch.ts";
import type { PlannedRequest, ScanNode } from "../../../src/query/operator/scan/node.ts";
import type { ScannedTable, Table } from "../../../src/table/catalog.ts";
import { ALL_TIME } from "../../../src/table/scan.ts";
import { EngineFixture } from "../engine-fixture.ts";

/** A table `t` of rows 0, 1, 2, … of three hosts, whose times and values are their numbers. Whoever asks closes the engine. */
export async function filledTable(rows: number): Promise<{ readonly fixture: EngineFixture; readonly table: Table }> {
  const fixture = await EngineFixture.start();
  await fixture.sql("CREATE TABLE t (ts TIMESTAMP TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)");
  await fixture.sql(`INSERT INTO t VALUES ${Array.from({ length: rows }, (_, i) => `(${i}, 'h${i % 3}', ${i})`).join(", ")}`);
  return { fixture, table: fixture.machine.engine.table("public", "t") as Table };
}

/** A scan of a table: of all its columns, unless the request says otherwise. */
export function scanOf(table: ScannedTable, request: Partial<PlannedRequest> = {}): ScanNode {
  const { columns } = table.schema;
  const projection = request.projection ?? columns.map(({ name }) => name);
  const headers = projection.map((name): ColumnHeader => {
    const column = columns.find((each) => each.name === name);
    // Tags are texts whatever their type.
    return { name, type: column?.semantic === "tag" ? STRING : (column?.type ?? NULL) };
  });
  const all = { timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "none" as const };
  return { kind: "scan", table, columns: headers, request: { ...all, ...request, projection }, predicates: [] };
}

/** A plan as a fragment. */
export function fragmentOf(table: ScannedTable, plan: PlanNode, more: Partial<FragmentRequest> = {}): FragmentRequest {
  return {
    shard: 0,
    catalogVersion: 0,
    least: 0,
    tableId: table.schema.id,
    plan: encodePlan(plan),
    environment: { now: 0n, timeZone: "UTC", database: "public" },
    memoryBytesMax: Number.POSITIVE_INFINITY,
    wantsMetrics: false,
    wantsRuns: true,
    ...more,
  };
}

/** What a fragment gave. */
export interface FragmentAnswer {
  /** Tags of the row's series, where it has one, and its values; in the order in which they came. */
  readonly rows: readonly string[];
  readonly end: Extract<FragmentPiece, { kind: "end" }> | undefined;
  readonly pieces: number;
  readonly series: number;
}

/** Runs a fragment. */
export async function answerOf(
  client: ShardClient,
  request: FragmentRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<FragmentAnswer> {
  const unpacker = new BatchUnpacker();
  const types = typesOfPlan(request.plan);
  const tags: (readonly (string | undefined)[])[] = [];
  const rows: string[] = [];
  let end: FragmentAnswer["end"];
  let pieces = 0;
  for await (const piece of client.fragment(request, signal)) {
    pieces++;
    if (piece.kind === "series") {
      for (let i = 0; i < piece.series.count; i++) tags.push(piece.series.tags.map((values) => values[i]));
    } else if (piece.kind === "rows") {
      addRows(unpacker.unpack(piece.batch), types, (series) => tags[series], rows);
    } else if (piece.kind === "end") end = piece;
  }
  return { rows, end, pieces, series: tags.length };
}

/** The rows of a scan here, as `answerOf` gives them. */
export async function rowsHere(table: ScannedTable, request: Partial<PlannedRequest> = {}): Promise<readonly string[]> {
  const node = scanOf(table, request);
  const types = node.columns.map(({ type }) => type);
  const { series } = table;
  const rows: string[] = [];
  for await (const batch of table.scan({ ...node.request, tagPredicates: [], numbers: series })) {
    // A column at a time: a view of very many keeps few of them. For each batch: the scan learns of series.
    const tags = table.schema.primaryKey.map((name) => {
      const dictionary = series.dictionaryOf(name);
      return Array.from(series.codesOf(name).subarray(0, series.count), (code) => dictionary[code]);
    });
    addRows(batch, types, (number) => tags.map((values) => values[number]), rows);
  }
  return rows;
}

function addRows(
  { rowCount, vectors, runs }: ExecBatch,
  types: readonly DataType[],
  tagsOf: (series: number) => readonly (string | undefined)[] | undefined,
  rows: string[],
): void {
  let run = 0;
  for (let row = 0; row < rowCount; row++) {
    while (runs !== undefined && (runs.starts[run + 1] as number) <= row) run++;
    const tags = runs === undefined ? undefined : tagsOf(runs.series[run] as number);
    const values = vectors.map((vector, column) => {
      const value = scalarAt(vector, types[column] ?? NULL, row);
      return value instanceof Uint8Array ? value.toHex() : value === undefined ? "NULL" : String(value);
    });
    rows.push(`${tags === undefined ? "" : JSON.stringify(tags.map((tag) => tag ?? null))} ${values.join(" ")}`);
  }
}
