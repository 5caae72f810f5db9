/**
 * Arrow Flight: batches put in one stream a connection, some of them before the first is acknowledged; answers whose rows are counted.
 *
 * A connection has a batch for each that it may have under way. Once that is acknowledged, it gets new times and is sent again: so any
 * number of rows takes the same memory here.
 */
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { batchTimes, flightRows, type PutBatch, putBatches, putPreamble, type PutShape, sqlTicket } from "./flight-bodies.ts";
import { framed, type Framed, writePayload } from "./frames.ts";
import { callHeaders, connectAll, expectNone } from "./drive-calls.ts";
import type { Http2Connection } from "./http2-connection.ts";
import type { Driver, Part } from "./load-plan.ts";
import { MessageHeads } from "./message-heads.ts";

const SERVICE = "/arrow.flight.protocol.FlightService";
/** Batches of a connection that are not acknowledged yet. */
const UNDER_WAY = 4;
/** Bytes of an answer that are looked at: an acknowledgement, and the header of a batch. */
const ACK_BYTES = 1024;
const HEADER_BYTES = 16_384;

/** The rows that a PutResult acknowledges. */
function acknowledgedRows(result: Uint8Array): number {
  const reader = new BinaryReader(result);
  reader.tag();
  const { affected_rows: rows } = JSON.parse(Buffer.from(reader.bytes()).toString()) as { readonly affected_rows?: number };
  return rows ?? 0;
}

/** A batch in frames. */
interface Slot {
  readonly batch: PutBatch;
  readonly frames: Framed;
}

/** Puts `units` batches, and more for the warm-up. */
export async function drivePuts(port: number, connections: number, shape: PutShape, units: number): Promise<Driver> {
  const batches = putBatches(shape, connections * UNDER_WAY);
  const links = await connectAll(port, connections); // Not before: a connection must make its first call in time.
  const lanes = links.map((link, lane) => ({
    link,
    slots: batches.slice(lane * UNDER_WAY, (lane + 1) * UNDER_WAY).map((batch): Slot => {
      return { batch, frames: framed(batch.message, { frameBytes: link.frameBytes, isLast: false }) };
    }),
  }));
  return {
    units,
    run: async (from, until) => {
      const share = Math.ceil((until - from) / lanes.length);
      const parts = await Promise.all(
        lanes.map(({ link, slots }, i) => {
          const [begin, end] = [from + i * share, from + (i + 1) * share];
          return putRange(link, slots, shape, Math.min(begin, until), Math.min(end, until));
        }),
      );
      const total = (value: (part: Part) => number): number => parts.reduce((sum, part) => sum + value(part), 0);
      return {
        rows: total(({ rows }) => rows),
        bytes: total(({ bytes }) => bytes),
        sum: total(({ sum }) => sum),
        ackMs: parts.flatMap(({ ackMs }) => ackMs),
      };
    },
    close: () => links.forEach((link) => link.close()),
  };
}

/** Puts batches `[from, until)` in one stream. @throws Error when it fails or acknowledges another number of rows */
async function putRange(link: Http2Connection, slots: readonly Slot[], shape: PutShape, from: number, until: number): Promise<Part> {
  const { frameBytes } = link;
  const begun: number[] = [];
  const ackMs: number[] = [];
  let [next, rows, bytes, sum] = [from, 0, 0, 0];
  const send = (): void => {
    const slot = slots[next % slots.length];
    if (slot === undefined || next > until) return;
    if (next === until) call.send(framed(undefined, { frameBytes, isLast: true }));
    else {
      writePayload(slot.frames, slot.batch.timesAt, batchTimes(shape, next));
      begun.push(performance.now());
      call.send(slot.frames);
      bytes += slot.batch.message.length;
      sum += slot.batch.sum;
    }
    next++;
  };
  const heads = new MessageHeads(ACK_BYTES, (head) => {
    const acknowledged = acknowledgedRows(head);
    if (acknowledged === 0) return; // The first says that the stream was taken.
    ackMs.push(performance.now() - (begun[ackMs.length] ?? 0));
    rows += acknowledged;
    send();
  });
  const call = link.open((piece) => heads.take(piece));
  for (const [i, message] of putPreamble(shape).entries()) {
    call.send(framed(message, { frameBytes, headers: i === 0 ? callHeaders(`${SERVICE}/DoPut`) : undefined, isLast: false }));
  }
  for (let i = 0; i < UNDER_WAY; i++) send();
  expectNone(await call.ended);
  const want = Math.max(0, until - from) * shape.rowsPerBatch;
  if (rows !== want) throw new Error(`${rows} of ${want} rows were acknowledged`);
  return { rows, bytes, sum, ackMs };
}

/** Asks for the rows of a statement; each connection has one query at a time. */
export async function driveGets(port: number, connections: number, sql: string, rowsEach: number, units: number): Promise<Driver> {
  const links = await connectAll(port, connections);
  const ask = async (link: Http2Connection): Promise<{ readonly bytes: number; readonly millis: number }> => {
    const begun = performance.now();
    let [rows, bytes] = [0, 0];
    const heads = new MessageHeads(HEADER_BYTES, (head, length) => {
      rows += flightRows(head);
      bytes += length;
    });
    const call = link.open((piece) => heads.take(piece));
    call.send(framed(sqlTicket(sql), { frameBytes: link.frameBytes, headers: callHeaders(`${SERVICE}/DoGet`), isLast: true }));
    expectNone(await call.ended);
    if (rows !== rowsEach) throw new Error(`${rows} of ${rowsEach} rows came`);
    return { bytes, millis: performance.now() - begun };
  };
  return {
    units,
    run: async (from, until) => {
      let next = from;
      const answers: { readonly bytes: number; readonly millis: number }[] = [];
      const work = async (link: Http2Connection): Promise<void> => {
        while (next++ < until) answers.push(await ask(link));
      };
      await Promise.all(links.map(work));
      const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0);
      return { rows: answers.length * rowsEach, bytes, sum: 0, ackMs: answers.map(({ millis }) => millis) };
    },
    close: () => links.forEach((link) => link.close()),
  };
}
