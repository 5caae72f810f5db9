/**
 * Entries of a push as rows of a pipeline (contract ingest.md 5): the time, `loki_line`, `loki_label_<name>` and `loki_metadata_<name>`.
 */
import { utf8Text } from "../../column/text-table.ts";
import type { BytesVector, Vector } from "../../column/vector.ts";
import type { TableWrite, WriteBatch } from "../../table/write-batch.ts";
import { intValue, PipelineTime, type PipelineObject, setField } from "../common/value.ts";
import { LOG_COLUMNS } from "./log-rows.ts";

const LINE = "loki_line";
const LABEL_PREFIX = "loki_label_";
const METADATA_PREFIX = "loki_metadata_";
const EMPTY_METADATA_BYTES = 2; // {}

/** How the time of an entry is given. */
export interface LokiRowOptions {
  /** Name of its field. */
  readonly timeColumn: string;
  /** As an integer of nanoseconds, which is what the built-in pipeline takes; else as a moment. */
  readonly isTimeNumber: boolean;
}

/** The rows of a decoded push, in the order of its streams. Nothing of the batch is borrowed. */
export function lokiPipelineRows({ dictionary, tables }: WriteBatch, options: LokiRowOptions): PipelineObject[] {
  const rows: PipelineObject[] = [];
  let lastKey = -1;
  let labels: readonly (readonly [name: string, value: string])[] = [];
  for (const write of tables) {
    const lines = bytesOf(write, LOG_COLUMNS.line);
    const metadata = bytesOf(write, LOG_COLUMNS.metadata);
    for (let row = 0; row < write.rowCount; row++) {
      const key = write.keys[row] as number; // row < rowCount
      if (key !== lastKey) {
        const { names, values } = dictionary.tagsOf(key);
        labels = names.map((name, i) => [LABEL_PREFIX + name, values[i] ?? ""] as const);
        lastKey = key;
      }
      const nanos = write.times.base + BigInt(write.times.offsets[row] as number);
      const made: PipelineObject = {};
      setField(made, options.timeColumn, options.isTimeNumber ? intValue(nanos) : new PipelineTime(nanos, "nanosecond"));
      made[LINE] = textAt(lines, row);
      for (const [name, value] of labels) made[name] = value;
      addMetadata(made, metadata, row);
      rows.push(made);
    }
  }
  return rows;
}

function addMetadata(made: PipelineObject, metadata: BytesVector, row: number): void {
  const { offsets } = metadata;
  if ((offsets[row + 1] as number) - (offsets[row] as number) === EMPTY_METADATA_BYTES) return;
  const pairs: unknown = JSON.parse(textAt(metadata, row));
  if (typeof pairs !== "object" || pairs === null) return;
  for (const [name, value] of Object.entries(pairs)) if (typeof value === "string") made[METADATA_PREFIX + name] = value;
}

function textAt({ bytes, offsets }: BytesVector, row: number): string {
  return utf8Text(bytes, offsets[row] as number, offsets[row + 1] as number); // row < rowCount
}

function bytesOf({ fields }: TableWrite, name: string): BytesVector {
  const vector: Vector | undefined = fields.find((field) => field.name === name)?.vector;
  if (vector?.kind !== "bytes") throw new Error(`BUG: the column ${name} of a push holds no text`);
  return vector;
}
