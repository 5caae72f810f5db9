/** Messages are what their definitions say, at any time they are given. */
import { expect, test } from "bun:test";
import { fromBinary } from "@bufbuild/protobuf";
import { FlightDataSchema } from "../../../proto/gen/arrow/flight/Flight_pb.js";
import { GreptimeRequestSchema } from "../../../proto/gen/greptime/v1/database_pb.js";
import { ExportMetricsServiceRequestSchema } from "../../../proto/gen/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js";
import { SMOKE } from "../dataset.ts";
import { bodyAt, timedColumns, timedRows } from "../native-bodies.ts";
import { rowsOf } from "./arrow-messages.ts";
import { batchTimes, flightRows, putBatches, putPreamble } from "./flight-bodies.ts";
import { address, framed, HEAD_BYTES, lengthAt, writePayload } from "./frames.ts";
import { otlpMessages } from "./otlp-messages.ts";

test("a body at another time differs from one that was made for it in its values alone", () => {
  const timesOf = (bytes: Uint8Array): readonly unknown[] => {
    const { request } = fromBinary(GreptimeRequestSchema, bytes);
    if (request.case === "rowInserts")
      return request.value.inserts[0]?.rows?.rows.map(({ values }) => values.at(-1)?.valueData.value) ?? [];
    return request.case === "inserts" ? (request.value.inserts[0]?.columns.at(-1)?.values?.timestampMillisecondValues ?? []) : [];
  };
  for (const make of [timedRows, timedColumns]) {
    const moved = bodyAt(make(3, 50), 7);
    expect(timesOf(moved)).toEqual(timesOf(make(7, 50).bytes));
    expect(timesOf(moved)).toHaveLength(50);
    expect(bodyAt(make(7, 50), 7)).toEqual(make(7, 50).bytes);
  }
});

test("points that are sent again are later, and none has the time of another of its series", () => {
  const seen = new Set<string>();
  const metrics = otlpMessages("metrics", 200, 100)
    .flatMap((message) => fromBinary(ExportMetricsServiceRequestSchema, message).resourceMetrics)
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap((scope) => scope.metrics);
  for (const { name, data } of metrics) {
    if (data.case !== "gauge" && data.case !== "sum") throw new Error(`metric ${name} is no gauge and no sum`);
    for (const { attributes, timeUnixNano } of data.value.dataPoints) {
      const host = attributes.find(({ key }) => key === "host")?.value?.value;
      if (host?.case === "stringValue") seen.add(`${name} ${host.value} ${timeUnixNano}`);
    }
  }
  expect(seen.size).toBe(20_000);
});

test("batches of Arrow say their rows, lie at multiples of eight, and hold their times where they say", () => {
  for (const withText of [false, true]) {
    const shape = { dataset: SMOKE, rowsPerBatch: 250, withText };
    expect(putPreamble(shape)).toHaveLength(withText ? 1 : 11);
    for (const message of putPreamble(shape)) expect(flightRows(message)).toBe(0);
    for (const { message, timesAt } of putBatches(shape, 2)) {
      const { dataHeader, dataBody } = fromBinary(FlightDataSchema, message);
      expect(rowsOf(dataHeader)).toBe(250);
      expect(flightRows(message.subarray(0, 2000))).toBe(250);
      expect(dataBody.length % 8).toBe(0);
      expect(message.length - timesAt).toBe(250 * 8);
    }
  }
});

test("no two batches have a step in common, and hosts go through each", () => {
  const shape = { dataset: SMOKE, rowsPerBatch: 250, withText: false };
  const steps = [0, 1, 2].map((number) => {
    const times = new BigInt64Array(batchTimes(shape, number).buffer);
    expect([times[0], times[100], times[249]]).toEqual([times[99], times[199], times[200]]);
    return [...new Set(times)];
  });
  expect(steps.map(({ length }) => length)).toEqual([3, 3, 3]);
  expect(new Set(steps.flat()).size).toBe(9);
});

test("a message in frames is the message, whatever their size, and can be written over", () => {
  const message = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
  for (const frameBytes of [1, 5, 7, 333, 1004, 1005, 1006, 16_384]) {
    const made = framed(message, { frameBytes, headers: new Uint8Array(3), isLast: true });
    const changed = message.slice();
    changed.fill(9, 300, 700);
    writePayload(made, 300, changed.subarray(300, 700));
    address(made, 77);
    const pieces: Buffer[] = [];
    for (let at = made.dataFrom; at < made.bytes.length; at += HEAD_BYTES + lengthAt(made.bytes, at)) {
      const size = lengthAt(made.bytes, at);
      const isLast = at + HEAD_BYTES + size === made.bytes.length;
      expect([size <= frameBytes, made.bytes[at + 4], made.bytes[at + 8]]).toEqual([true, isLast ? 1 : 0, 77]);
      pieces.push(Buffer.from(made.bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + size)));
    }
    expect(Buffer.concat(pieces)).toEqual(Buffer.from([0, 0, 0, 3, 232, ...changed]));
  }
});
