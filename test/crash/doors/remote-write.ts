/** Prometheus remote write: samples of three metrics a request, logical tables on one physical table; overwrites and deletes. */
import { compress } from "snappyjs";
import { messageV1, type SentSeries } from "../../support/prometheus/messages.ts";
import { type Batch, isOf, secondOf, tableOf, writerTag } from "../batch.ts";
import { type Door, deleteRequest, literals } from "./door.ts";

const TABLES = ["crash_metric_0", "crash_metric_1", "crash_metric_2"];
/** A value holds version and seat: the seat is its fraction in steps of 2^-12, so that sums of many are exact. */
const SEAT_STEPS = 4096;

/** The value of a row. */
export const valueOf = (version: number, seat: number): number => version + seat / SEAT_STEPS;
/** Its time in milliseconds. */
export const millisOf = (origin: number, seat: number): number => secondOf(origin) * 1000 + seat;

function seriesOf(batch: Batch): SentSeries[] {
  const { writer, number, origin } = batch;
  const series = TABLES.map((name) => ({
    labels: { __name__: name, origin: String(origin), writer: writerTag(writer) },
    samples: [] as { time: number; value: number }[],
  }));
  for (let seat = 0; isOf(batch, seat, TABLES.length); seat++) {
    series[tableOf(origin, seat, TABLES.length)]!.samples.push({ time: millisOf(origin, seat), value: valueOf(number, seat) });
  }
  return series.filter(({ samples }) => samples.length > 0);
}

/** See the file header. */
export const remoteWriteDoor: Door = {
  name: "remote-write",
  tables: TABLES,
  changes: ["full", "delete"],
  isIdempotent: true,
  request(batch) {
    const { kind, writer, origin } = batch;
    if (kind === "delete") return deleteRequest(TABLES, batch, `writer = '${writerTag(writer)}' AND origin = '${origin}'`);
    const headers = { "content-encoding": "snappy", "content-type": "application/x-protobuf" };
    return { path: "/v1/prometheus/write?db=public", headers, body: new Uint8Array(compress(messageV1(seriesOf(batch)))), goodStatus: 204 };
  },
  rowsSql: (table, writer, origins) =>
    `SELECT origin, greptime_value, greptime_timestamp FROM ${table} ` +
    `WHERE writer = '${writerTag(writer)}' AND origin IN (${literals(origins)})`,
  storedRow([origin, value, time]) {
    const version = Math.floor(Number(value));
    return { origin: Number(origin), seat: (Number(value) - version) * SEAT_STEPS, version, text: `time ${String(time)}` };
  },
  textOf: ({ origin, seat }) => `time ${millisOf(origin, seat)}`,
  sumsSql: (table) => `SELECT writer, origin, count(*), sum(greptime_value) FROM ${table} GROUP BY writer, origin`,
  figuresOf: ({ version, seat }) => [valueOf(version, seat)],
};
