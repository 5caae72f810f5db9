/** The Arrow stream of a DoPut, message by message. */
import type { FlightData } from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Batch } from "../../../column/batch.ts";
import { ArrowReader } from "../../../format/arrow/reading/arrow-reader.ts";
import type { ArrowInput } from "./arrow-input.ts";

/** As `ReadArrow`. */
export async function readFlightStream(first: FlightData, rest: AsyncIterable<FlightData>): Promise<ArrowInput | undefined> {
  const reader = new ArrowReader();
  const iterator = rest[Symbol.asyncIterator]();
  // A first message may bring the descriptor alone; then the schema is in the next.
  const begins = first.dataHeader.length > 0 ? first : (await iterator.next()).value;
  if (begins === undefined) return undefined;
  const schema = reader.read(begins.dataHeader, begins.dataBody);
  if (schema.kind !== "schema")
    throw new DbError(StatusCode.InvalidArguments, "cannot read Arrow: the first message of a stream is its schema");
  async function* batches(): AsyncIterable<Batch> {
    for (;;) {
      const { done, value } = await iterator.next();
      if (done === true) return;
      const message = reader.read(value.dataHeader, value.dataBody);
      if (message.kind === "batch") yield message.batch;
    }
  }
  return { columns: schema.headers, batches: batches() };
}
