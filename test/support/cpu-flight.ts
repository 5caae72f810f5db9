/**
 * What a client of Arrow Flight puts of the TSBS cpu table: 10 tags, a time in nanoseconds, 10 integers; 4,000 hosts that all report before
 * time moves on. Tags as texts or as dictionaries, whose messages our own encoder does not write.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import {
  FlightDataSchema,
  FlightDescriptor_DescriptorType as DescriptorType,
  FlightDescriptorSchema,
} from "../../proto/gen/arrow/flight/Flight_pb.js";
import { type DataType, INT64, TIMESTAMP_NANOSECOND } from "../../src/column/data-type.ts";
import type { Vector } from "../../src/column/vector.ts";
import { textTableOf } from "../../src/column/text-table.ts";
import { columnBuffers, viewOf } from "../../src/format/arrow/column-buffers.ts";
import { type ArrowMessageParts, arrowMessage, HEADER, pad8, writeArrowBody } from "../../src/format/arrow/encode-stream.ts";
import { FlatBufferWriter, type TableField } from "../../src/format/arrow/flatbuffer.ts";

const HEADER_DICTIONARY = 2;
const TYPE_INT = 2;
const TYPE_UTF8 = 5;
const TYPE_TIMESTAMP = 10;
const STEP_NANOS = 10_000_000_000n;
const START_NANOS = 1_700_000_000_000_000_000n;

const TAGS: readonly (readonly [name: string, valueOf: (host: number) => string])[] = [
  ["hostname", (host) => `host_${host}`],
  ["region", (host) => ["eu-central-1", "us-west-1", "sa-east-1", "ap-northeast-1"][host % 4] ?? ""],
  ["datacenter", (host) => `${["eu-central-1", "us-west-1", "sa-east-1", "ap-northeast-1"][host % 4]}${"abc"[host % 3]}`],
  ["rack", (host) => String((host * 7) % 100)],
  ["os", (host) => ["Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"][host % 3] ?? ""],
  ["arch", (host) => (host % 2 === 0 ? "x64" : "x86")],
  ["team", (host) => ["SF", "NYC", "LON", "CHI"][(host >> 2) % 4] ?? ""],
  ["service", (host) => String((host * 3) % 20)],
  ["service_version", (host) => String(host % 2)],
  ["service_environment", (host) => ["production", "staging", "test"][host % 3] ?? ""],
];
const FIELDS = ["user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];

/** How a client sends tags: dictionaries once, with every batch, or not at all. */
export type CpuTags = "texts" | "dictionaries" | "dictionaries each";

/** Makes the table that the messages are for. */
export const CPU_TABLE: string = `CREATE TABLE cpu (${[
  ...TAGS.map(([name]) => `${name} STRING`),
  "ts TIMESTAMP(9) TIME INDEX",
  ...FIELDS.map((name) => `usage_${name} BIGINT`),
].join(", ")}, PRIMARY KEY (${TAGS.map(([name]) => name).join(", ")}))`;

/** Which rows. */
export interface CpuRows {
  readonly batches: number;
  readonly rowsPerBatch: number;
  readonly hosts: number;
  readonly tags: CpuTags;
  /** Whether rows come host by host, as an export does, and not time by time. */
  readonly isByHost?: boolean;
}

/** The `FlightData` messages of a DoPut, as bytes. */
export function cpuPut(rows: CpuRows): Uint8Array[] {
  const coded = rows.tags !== "texts";
  const messages = [message(schemaParts(coded), ["cpu"])];
  for (let batch = 0; batch < rows.batches; batch++) {
    if (rows.tags === "dictionaries each" || (coded && batch === 0)) {
      for (const [i] of TAGS.entries()) messages.push(message(dictionaryParts(i, rows.hosts)));
    }
    messages.push(message(batchParts(rows, batch), [], `{"request_id":${batch + 1}}`));
  }
  return messages;
}

function message(parts: ArrowMessageParts, path: string[] = [], metadata = ""): Uint8Array {
  const { metadata: dataHeader, body, bodyLength } = parts;
  const dataBody = new Uint8Array(bodyLength);
  writeArrowBody({ metadata: dataHeader, body, bodyLength }, dataBody, 0);
  const flightDescriptor = create(FlightDescriptorSchema, path.length === 0 ? {} : { type: DescriptorType.PATH, path });
  const appMetadata = new TextEncoder().encode(metadata);
  return toBinary(FlightDataSchema, create(FlightDataSchema, { flightDescriptor, dataHeader, dataBody, appMetadata }));
}

function schemaParts(coded: boolean): ArrowMessageParts {
  const writer = new FlatBufferWriter();
  const int = (bits: number): number =>
    writer.table([
      { slot: 0, kind: "i32", value: bits },
      { slot: 1, kind: "u8", value: 1 },
    ]);
  const field = (name: string, type: number, parameters: () => number, id?: number): number => {
    const nameAt = writer.text(name);
    const typeAt = parameters();
    const children = writer.offsets([]);
    const dictionary: TableField[] =
      id === undefined
        ? []
        : [
            {
              slot: 4,
              kind: "offset",
              value: writer.table([
                { slot: 0, kind: "i64", value: BigInt(id) },
                { slot: 1, kind: "offset", value: int(32) },
              ]),
            },
          ];
    return writer.table([
      { slot: 0, kind: "offset", value: nameAt },
      { slot: 1, kind: "u8", value: 1 },
      { slot: 2, kind: "u8", value: type },
      { slot: 3, kind: "offset", value: typeAt },
      { slot: 5, kind: "offset", value: children },
      ...dictionary,
    ]);
  };
  const fields = [
    ...TAGS.map(([name], i) => field(name, TYPE_UTF8, () => writer.table([]), coded ? i : undefined)),
    field("ts", TYPE_TIMESTAMP, () => writer.table([{ slot: 0, kind: "i16", value: 3 }])),
    ...FIELDS.map((name) => field(`usage_${name}`, TYPE_INT, () => int(64))),
  ];
  const schema = writer.table([
    { slot: 0, kind: "i16", value: 0 },
    { slot: 1, kind: "offset", value: writer.offsets(fields) },
  ]);
  return arrowMessage(writer, HEADER.Schema, schema, [], 0);
}

/** Values of a tag, each once, and the code of each host. */
function dictionaryOf(tag: number, hosts: number): { readonly values: readonly string[]; readonly codes: readonly number[] } {
  const valueOf = TAGS[tag]?.[1] ?? String;
  const known = new Map<string, number>();
  const codes = Array.from({ length: hosts }, (_, host) => {
    const value = valueOf(host);
    const code = known.get(value) ?? known.size;
    known.set(value, code);
    return code;
  });
  return { values: [...known.keys()], codes };
}

function dictionaryParts(tag: number, hosts: number): ArrowMessageParts {
  const { values } = dictionaryOf(tag, hosts);
  const writer = new FlatBufferWriter();
  const { bytes, starts } = textTableOf([undefined, ...values]);
  const offsets = starts.slice(1);
  const { record, body, length } = recordOf(writer, values.length, [[new Uint8Array(0), viewOf(offsets), bytes]]);
  const header = writer.table([
    { slot: 0, kind: "i64", value: BigInt(tag) },
    { slot: 1, kind: "offset", value: record },
  ]);
  return arrowMessage(writer, HEADER_DICTIONARY, header, body, length);
}

function recordOf(
  writer: FlatBufferWriter,
  rowCount: number,
  columns: readonly (readonly Uint8Array[])[],
): { readonly record: number; readonly body: readonly Uint8Array[]; readonly length: number } {
  const places: [number, number][] = [];
  const body = columns.flat();
  let length = 0;
  for (const buffer of body) {
    places.push([length, buffer.length]);
    length += pad8(buffer.length);
  }
  const buffersAt = writer.pairs(places);
  const nodesAt = writer.pairs(columns.map((): [number, number] => [rowCount, 0]));
  const record = writer.table([
    { slot: 0, kind: "i64", value: BigInt(rowCount) },
    { slot: 1, kind: "offset", value: nodesAt },
    { slot: 2, kind: "offset", value: buffersAt },
  ]);
  return { record, body, length };
}

function batchParts({ rowsPerBatch, hosts, tags, isByHost = false }: CpuRows, batch: number): ArrowMessageParts {
  const steps = Math.ceil(rowsPerBatch / hosts);
  const hostOf = (row: number): number => (isByHost ? Math.floor(row / steps) % hosts : (batch * rowsPerBatch + row) % hosts);
  const stepOf = (row: number): number => (isByHost ? batch * steps + (row % steps) : Math.floor((batch * rowsPerBatch + row) / hosts));
  const columns = TAGS.map(([, valueOf], tag): readonly Uint8Array[] => {
    if (tags !== "texts") {
      const { codes } = dictionaryOf(tag, hosts);
      return [new Uint8Array(0), viewOf(Int32Array.from({ length: rowsPerBatch }, (_, row) => codes[hostOf(row)] ?? 0))];
    }
    const vector = textTableOf([undefined, ...Array.from({ length: rowsPerBatch }, (_, row) => valueOf(hostOf(row)))]);
    return [new Uint8Array(0), viewOf(vector.starts.slice(1)), vector.bytes];
  });
  const plain = (type: DataType, vector: Vector): readonly Uint8Array[] => columnBuffers(type, vector, rowsPerBatch).buffers;
  const offsets = Float64Array.from({ length: rowsPerBatch }, (_, row) => stepOf(row) * Number(STEP_NANOS));
  columns.push(plain(TIMESTAMP_NANOSECOND, { kind: "time", base: START_NANOS, offsets, validity: undefined }));
  let state = batch + 1;
  for (const _ of FIELDS) {
    const values = new Float64Array(rowsPerBatch);
    for (let row = 0; row < rowsPerBatch; row++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      values[row] = Math.floor((state / 2 ** 32) * 101);
    }
    columns.push(plain(INT64, { kind: "number", values, validity: undefined }));
  }
  const writer = new FlatBufferWriter();
  const { record, body, length } = recordOf(writer, rowsPerBatch, columns);
  return arrowMessage(writer, HEADER.RecordBatch, record, body, length);
}
