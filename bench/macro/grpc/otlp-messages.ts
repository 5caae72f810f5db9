/**
 * Messages of OTLP, many of them from few: points get new times, so that none is of another's; log records and spans are sent again, since
 * their tables keep every row.
 */
import { logsBody, METRICS_INTERVAL, METRICS_SERIES, metricsBody, OTLP_START, tracesBody } from "../otlp-bodies.ts";

/** Messages that are made one by one. */
const MADE_MAX = 64;
/** Tags of a point's start and time: fields 2 and 3, 64 bits each. */
const [START_TAG, TIME_TAG] = [0x11, 0x19];

/** What is exported. */
export type OtlpSignal = "metrics" | "logs" | "traces";

const BODY: Readonly<Record<OtlpSignal, (first: number, count: number) => Uint8Array>> = {
  metrics: metricsBody,
  logs: logsBody,
  traces: tracesBody,
};

/** So many messages of so many rows. */
export function otlpMessages(signal: OtlpSignal, count: number, rowsEach: number): readonly Uint8Array[] {
  const made = Array.from({ length: Math.min(count, MADE_MAX) }, (_, i) => BODY[signal](i * rowsEach, rowsEach));
  const nanosPerRound = BigInt(Math.ceil((made.length * rowsEach) / METRICS_SERIES)) * METRICS_INTERVAL;
  const places = signal === "metrics" ? made.map(timesOf) : [];
  return Array.from({ length: count }, (_, i) => {
    const [body, times] = [made[i % made.length] ?? new Uint8Array(0), places[i % made.length] ?? []];
    const nanosLater = BigInt(Math.floor(i / made.length)) * nanosPerRound;
    return times.length === 0 || nanosLater === 0n ? body : later(body, times, nanosLater);
  });
}

/** Where the times of a message's points are: each behind a start that all points share. */
function timesOf(body: Uint8Array): readonly number[] {
  const mark = Buffer.alloc(10);
  mark[0] = START_TAG;
  mark.writeBigUInt64LE(OTLP_START, 1);
  mark[9] = TIME_TAG;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const found: number[] = [];
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) found.push(at + mark.length);
  return found;
}

function later(body: Uint8Array, times: readonly number[], nanos: bigint): Uint8Array {
  const copy = Buffer.from(body);
  for (const at of times) copy.writeBigUInt64LE(copy.readBigUInt64LE(at) + nanos, at);
  return copy;
}
