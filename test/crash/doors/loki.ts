/** Loki push: log lines with labels and metadata, which can only be added. */
import { type Batch, isOf, labelOf, shardTag, timeOf, writerTag } from "../batch.ts";
import { type Door, literals } from "./door.ts";

const TABLE = "crash_loki";

function encode(batch: Batch): string {
  const { writer, number, origin } = batch;
  const streams = new Map<string, [time: string, line: string, metadata: Record<string, string>][]>();
  for (let seat = 0; isOf(batch, seat, 1); seat++) {
    const lines = streams.get(shardTag(seat)) ?? [];
    streams.set(shardTag(seat), lines);
    lines.push([String(timeOf(origin, seat)), labelOf(writer, number, seat), { seat: String(seat) }]);
  }
  return JSON.stringify({
    streams: [...streams].map(([shard, values]) => ({ stream: { writer: writerTag(writer), origin: String(origin), shard }, values })),
  });
}

/** See the file header. */
export const lokiDoor: Door = {
  name: "loki",
  tables: [TABLE],
  changes: [],
  isIdempotent: false,
  request: (batch) => ({
    path: "/v1/loki/api/v1/push?db=public",
    headers: { "content-type": "application/json", "x-greptime-log-table-name": TABLE },
    body: encode(batch),
    goodStatus: 200,
  }),
  rowsSql: (table, writer, origins) =>
    `SELECT origin, line, shard, structured_metadata, greptime_timestamp FROM ${table} ` +
    `WHERE writer = '${writerTag(writer)}' AND origin IN (${literals(origins)})`,
  storedRow([origin, line, shard, metadata, time]) {
    const [, version = "", seat = ""] = /^w\d+ v(\d+) s(\d+)$/.exec(String(line)) ?? [];
    const text = `line ${String(line)}, shard ${String(shard)}, metadata ${JSON.stringify(metadata)}, time ${String(time)}`;
    return { origin: Number(origin), seat: Number(seat), version: Number(version), text };
  },
  textOf: ({ writer, origin, seat, version }) =>
    `line ${labelOf(writer, version, seat)}, shard ${shardTag(seat)}, metadata {"seat":"${seat}"}, time ${timeOf(origin, seat)}`,
  sumsSql: (table) => `SELECT writer, origin, count(*), sum(length(line)) FROM ${table} GROUP BY writer, origin`,
  figuresOf: ({ writer, version, seat }) => [labelOf(writer, version, seat).length],
};
