/** Answers as Flight carries them: an Arrow schema message, then a message a batch. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { FlightDataSchema, type FlightData } from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import type { Batch } from "../../../column/batch.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { encodeArrowBatch, encodeArrowSchema } from "../../../format/arrow/encode-stream.ts";
import type { ArrowField } from "../../../format/arrow/field-type.ts";
import type { StatementResult } from "../../../query/statement-result.ts";

/** IPC messages of one answer. */
export interface FlightAnswer {
  readonly schema: Uint8Array<ArrayBuffer>;
  readonly batches: AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Gives back what the answer holds: to be called once, whether batches were read or not. */
  readonly close?: () => void | Promise<void>;
}

/** Rows of metadata: few, or made as they are asked for. */
export interface AnswerTable {
  readonly fields: readonly ArrowField[];
  readonly rows: Iterable<readonly Scalar[]> | AsyncIterable<readonly Scalar[]>;
}

/** Schema of what gives no rows. */
export const NO_COLUMNS: Uint8Array<ArrayBuffer> = encodeArrowSchema([]);

/** Rows of a table in one batch of an answer. Reason: its message is held whole, and a schema of a wide table is 100 KiB. */
const ROWS_PER_BATCH = 512;

/** A table of metadata as an answer. */
export function tableAnswer({ fields, rows }: AnswerTable): FlightAnswer {
  const encode = (some: readonly (readonly Scalar[])[]): Uint8Array<ArrayBuffer> => {
    const columns = fields.map(({ type }, i) => ({ type, values: some.map((row) => row[i]) }));
    return encodeArrowBatch(
      fields,
      { rowCount: some.length, vectors: columns.map(({ type, values }) => vectorOf(type, values)) },
      undefined,
    );
  };
  async function* batches(): AsyncIterable<Uint8Array<ArrayBuffer>> {
    let some: (readonly Scalar[])[] = [];
    for await (const row of rows) {
      some.push(row);
      if (some.length < ROWS_PER_BATCH) continue;
      yield encode(some);
      some = [];
    }
    if (some.length > 0) yield encode(some);
  }
  return { schema: encodeArrowSchema(fields), batches: batches() };
}

/** The answer of a statement; of one that gives no rows, one without columns. */
export function resultAnswer(result: StatementResult): FlightAnswer {
  if (result.kind === "affected") return { schema: NO_COLUMNS, batches: noBatches() };
  return { schema: encodeArrowSchema(result.headers), batches: encoded(result.headers, result.batches) };
}

async function* noBatches(): AsyncIterable<Uint8Array<ArrayBuffer>> {
  // An answer without rows has none.
}

/** Batches of a result as messages, one at a time. */
export async function* encoded(columns: readonly ArrowField[], batches: AsyncIterable<Batch>): AsyncIterable<Uint8Array<ArrayBuffer>> {
  for await (const batch of batches) if (batch.rowCount > 0) yield encodeArrowBatch(columns, batch, undefined);
}

/** An answer as messages of DoGet. @param open makes it, once its first message is wanted */
export async function* flightDataOf(open: () => FlightAnswer | Promise<FlightAnswer>): AsyncIterable<FlightData> {
  const answer = await open();
  try {
    yield flightData(answer.schema);
    for await (const batch of answer.batches) yield flightData(batch);
  } finally {
    await answer.close?.();
  }
}

/** An IPC message as Flight carries it: metadata and body apart, without the mark and the length before them. */
function flightData(message: Uint8Array<ArrayBuffer>): FlightData {
  const end = 8 + new DataView(message.buffer, message.byteOffset).getUint32(4, true);
  const init: MessageInitShape<typeof FlightDataSchema> = { dataHeader: message.subarray(8, end), dataBody: message.subarray(end) };
  return create(FlightDataSchema, init);
}
