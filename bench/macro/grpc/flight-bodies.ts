/** Messages of Arrow Flight: batches of the data set's columns to put, tickets of statements, and rows that come back. */
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { type Dataset, FIELDS, STEP_SECONDS, TABLE, TAGS } from "../dataset.ts";
import { hostTags } from "../hosts.ts";
import { seededRandom } from "../random.ts";
import {
  type ArrowColumn,
  type ArrowMessage,
  type ArrowValues,
  batchMessage,
  dictionaryMessage,
  rowsOf,
  schemaMessage,
  textValues,
} from "./arrow-messages.ts";

/** The statement that makes the table. */
export const CREATE_TABLE: string = `CREATE TABLE ${TABLE} (ts TIMESTAMP(9) NOT NULL, ${TAGS.map((name) => `${name} STRING`).join(", ")}, \
${FIELDS.map((name) => `${name} BIGINT`).join(", ")}, TIME INDEX (ts), PRIMARY KEY (${TAGS.join(", ")}))`;

/** The field whose sum is compared. */
export const SUMMED_FIELD: string = FIELDS[FIELDS.length - 1] ?? "";

const NANOS = 1_000_000_000n;
/** Values of fields are below it. */
const VALUES = 101;

/** What batches look like. */
export interface PutShape {
  readonly dataset: Dataset;
  readonly rowsPerBatch: number;
  /** Tags as text, rather than as numbers into a dictionary. */
  readonly withText: boolean;
}

/** FlightData around a message. */
function flightData(message: ArrowMessage, descriptor?: Uint8Array): Uint8Array {
  const writer = new BinaryWriter();
  if (descriptor !== undefined) writer.tag(1, 2).bytes(descriptor);
  writer.tag(2, 2).bytes(message.header);
  return writer.tag(1000, 2).bytes(message.body).finish(); // The body comes last: places in it count from the end.
}

/** Values of a tag by number: what the hosts have, without repetition. */
function vocabulary(hosts: readonly (readonly string[])[], tag: number): readonly string[] {
  return [...new Set(hosts.map((values) => values[tag] ?? ""))];
}

/** What comes before the batches: the schema for the table, and dictionaries. */
export function putPreamble({ dataset, withText }: PutShape): readonly Uint8Array[] {
  const tags = TAGS.map((name, i): ArrowColumn => ({ name, type: "text", ...(withText ? {} : { dictionary: i }) }));
  const fields = FIELDS.map((name): ArrowColumn => ({ name, type: "long" }));
  const path = new BinaryWriter().tag(1, 0).int32(1).tag(3, 2).string(TABLE).finish();
  const schema = flightData(schemaMessage([...tags, ...fields, { name: "ts", type: "nanos" }]), path);
  if (withText) return [schema];
  const hosts = hostTags(dataset);
  return [schema, ...TAGS.map((_, i) => flightData(dictionaryMessage(i, textValues(vocabulary(hosts, i)))))];
}

/** A batch whose times are put in before it is sent. */
export interface PutBatch {
  readonly message: Uint8Array;
  /** Where the times are. */
  readonly timesAt: number;
  /** Of `SUMMED_FIELD`. */
  readonly sum: number;
}

/** So many batches, whose row `i` is of host `i % hosts`: the same tags, other values. */
export function putBatches(shape: PutShape, count: number): readonly PutBatch[] {
  const { rowsPerBatch, dataset } = shape;
  const tags = tagValues(shape);
  const random = seededRandom(dataset.seed);
  const times: ArrowValues = { count: rowsPerBatch, buffers: [new Uint8Array(rowsPerBatch * 8)] };
  return Array.from({ length: count }, () => {
    let sum = 0;
    const fields = FIELDS.map((name): ArrowValues => {
      const halves = new Int32Array(rowsPerBatch * 2); // The upper half of each is 0.
      for (let row = 0; row < rowsPerBatch; row++) {
        const value = random.below(VALUES);
        halves[row * 2] = value;
        if (name === SUMMED_FIELD) sum += value;
      }
      return { count: rowsPerBatch, buffers: [new Uint8Array(halves.buffer)] };
    });
    const batch = batchMessage(rowsPerBatch, [...tags, ...fields, times]);
    const message = flightData(batch);
    return { message, timesAt: message.length - batch.body.length + (batch.offsets.at(-1) ?? 0), sum };
  });
}

function tagValues({ dataset, rowsPerBatch, withText }: PutShape): readonly ArrowValues[] {
  const hosts = hostTags(dataset);
  return TAGS.map((_, tag): ArrowValues => {
    const texts = hosts.map((values) => values[tag] ?? "");
    if (withText) return textValues(Array.from({ length: rowsPerBatch }, (_row, row) => texts[row % texts.length] ?? ""));
    const numbers = new Map(vocabulary(hosts, tag).map((text, i) => [text, i]));
    const codes = Int32Array.from({ length: rowsPerBatch }, (_row, row) => numbers.get(texts[row % texts.length] ?? "") ?? 0);
    return { count: rowsPerBatch, buffers: [new Uint8Array(codes.buffer)] };
  });
}

/** Times of batch `number`: all hosts step by step, no step of another batch. */
export function batchTimes({ dataset, rowsPerBatch }: PutShape, number: number): Uint8Array {
  const times = new BigInt64Array(rowsPerBatch);
  const { hosts, startSeconds } = dataset;
  const steps = Math.ceil(rowsPerBatch / hosts);
  for (let step = 0; step < steps; step++) {
    const seconds = startSeconds + (number * steps + step) * STEP_SECONDS;
    times.fill(BigInt(seconds) * NANOS, step * hosts, Math.min(rowsPerBatch, (step + 1) * hosts));
  }
  return new Uint8Array(times.buffer);
}

/** A ticket that is a statement. */
export function sqlTicket(sql: string): Uint8Array {
  const query = new BinaryWriter().tag(1, 2).string(sql).finish();
  const request = new BinaryWriter().tag(3, 2).bytes(query).finish();
  return new BinaryWriter().tag(1, 2).bytes(request).finish();
}

/** Rows of a message of FlightData, of which the start is enough. */
export function flightRows(head: Uint8Array): number {
  const reader = new BinaryReader(head);
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (field === 2) return rowsOf(reader.bytes());
    if (field === 1000) break;
    reader.skip(wire);
  }
  return 0;
}
