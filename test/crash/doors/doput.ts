/**
 * Bulk inserts by Arrow Flight: each writer keeps one stream open, on which its batches go and are acknowledged by their numbers. Rows can
 * only be added.
 */
import {
  FlightDescriptor_DescriptorType as DescriptorType,
  type FlightData,
  FlightService,
} from "../../../proto/gen/arrow/flight/Flight_pb.js";
import type { Batch } from "../batch.ts";
import { batchMessage, schemaMessage, tableOfRows } from "./arrow-rows.ts";
import type { Answer, Door } from "./door.ts";
import { answerOf, clientsOf, failureOf } from "./grpc-calls.ts";
import { lineDoor } from "./line.ts";

const TABLE = "crash_doput";
const clientOf = clientsOf(FlightService);
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

/** A stream of one writer, until it breaks. */
class BulkStream {
  isOver = false;
  private readonly waiting: FlightData[] = [schemaMessage({ type: DescriptorType.PATH, path: [TABLE] })];
  private wake: (() => void) | undefined;
  /** The one batch that is under way: a writer sends one after the other. */
  private pending: { readonly batch: Batch; readonly settle: (answer: Answer) => void } | undefined;

  constructor(grpcUrl: string) {
    void this.read(grpcUrl); // never rejects
  }

  put(batch: Batch): Promise<Answer> {
    this.waiting.push(batchMessage(batch, encoder.encode(JSON.stringify({ request_id: batch.number }))));
    return new Promise((settle) => {
      this.pending = { batch, settle };
      this.wake?.();
    });
  }

  private async *messages(): AsyncGenerator<FlightData> {
    while (!this.isOver) {
      const next = this.waiting.shift();
      if (next !== undefined) yield next;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private async read(grpcUrl: string): Promise<void> {
    let end: Answer;
    try {
      for await (const { appMetadata } of clientOf(grpcUrl).doPut(this.messages())) {
        const told = JSON.parse(decoder.decode(appMetadata)) as { readonly request_id: number; readonly affected_rows: number };
        const { pending } = this;
        if (pending === undefined || told.request_id !== pending.batch.number) continue;
        this.pending = undefined;
        pending.settle(answerOf(told.affected_rows, pending.batch.seats));
      }
    } catch (thrown) {
      end = failureOf(thrown);
    }
    this.isOver = true;
    this.wake?.();
    this.pending?.settle(end);
  }
}

const streams = new Map<string, BulkStream>();

/** See the file header. */
export const doputDoor: Door = {
  ...lineDoor,
  name: "doput",
  tables: [TABLE],
  changes: [],
  isIdempotent: false,
  setUp: { path: "/v1/sql?db=public", body: new URLSearchParams({ sql: tableOfRows(TABLE) }), goodStatus: 200 },
  request: (batch) => ({
    call(grpcUrl) {
      const key = `${grpcUrl} ${batch.writer}`;
      let stream = streams.get(key);
      if (stream === undefined || stream.isOver) streams.set(key, (stream = new BulkStream(grpcUrl)));
      return stream.put(batch);
    },
  }),
};
