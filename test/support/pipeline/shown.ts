/** Runs rows through a pipeline and shows what they become, as text that tests compare. */
import { displayName } from "../../../src/column/data-type.ts";
import { scalarAt } from "../../../src/column/scalar.ts";
import { compilePipeline } from "../../../src/ingest/pipeline/decode.ts";
import type { CompiledPipeline, PipelineResult, PipelineRunOptions } from "../../../src/ingest/pipeline/types.ts";
import type { PipelineValue } from "../../../src/ingest/common/value.ts";
import type { KnownColumn, TableWrite, WriteBatch } from "../../../src/table/write-batch.ts";

/** 2023-11-14T22:13:20.123456789Z */
export const NOW = 1_700_000_000_123_456_789n;

/** Options of a run into `t`, with these columns of existing tables as `table.column`. */
export function runOptions(more: Partial<PipelineRunOptions> = {}, known: Readonly<Record<string, KnownColumn>> = {}): PipelineRunOptions {
  return {
    database: "public",
    table: "t",
    skipError: false,
    nowNanos: NOW,
    timeColumn: "greptime_timestamp",
    schemas: { columnOf: (_database, table, column) => known[`${table}.${column}`] },
    ...more,
  };
}

function shownCell(write: TableWrite, batch: WriteBatch, name: string, row: number): string | undefined {
  const definition = write.shape?.find((column) => column.name === name);
  if (definition?.semantic === "timestamp") return String(scalarAt(write.times, definition.type, row));
  if (definition?.semantic === "tag") {
    const tags = batch.dictionary.tagsOf(write.keys[row] ?? 0);
    return tags.values[tags.names.indexOf(name)];
  }
  const field = write.fields.find((candidate) => candidate.name === name);
  const cell = field === undefined ? undefined : scalarAt(field.vector, field.type, row);
  if (cell === undefined) return undefined;
  return cell instanceof Uint8Array ? `x${cell.toHex()}` : String(cell);
}

/** One line a row: table, then `name=value` in the order of the columns. NULL is left out; `/` begins what hints say. */
export function shownRows({ groups }: PipelineResult): readonly string[] {
  return groups.flatMap(({ hints, batch }) =>
    batch.tables.flatMap((write) => {
      const suffix = [...hints].map(([name, value]) => ` /${name}=${value}`).join("");
      return Array.from({ length: write.rowCount }, (_, row) => {
        const cells = (write.shape ?? []).map(({ name }) => [name, shownCell(write, batch, name, row)] as const);
        const list = cells.filter(([, cell]) => cell !== undefined).map(([name, cell]) => `${name}=${cell}`);
        return `${write.table}: ${list.join(" ")}${suffix}`;
      });
    }),
  );
}

/** Columns of the first table: `name TYPE`, tags with `*`, the time index with `@`. */
export function shownColumns({ groups }: PipelineResult): string {
  const mark = { tag: "*", timestamp: "@", field: "" };
  const shape = groups[0]?.batch.tables[0]?.shape ?? [];
  return shape.map(({ name, type, semantic }) => `${name}${mark[semantic]} ${displayName(type)}`).join(", ");
}

/** Runs rows through the text of a pipeline or one that is compiled. */
export function ran(
  pipeline: string | CompiledPipeline,
  rows: readonly PipelineValue[],
  options: PipelineRunOptions = runOptions(),
): PipelineResult {
  const compiled = typeof pipeline === "string" ? compilePipeline(pipeline) : pipeline;
  return compiled.run(rows, options);
}
