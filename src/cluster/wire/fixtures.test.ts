/** Bytes of version 1, as they were written once, are read as they were meant. `fixtures/v1.hex`: a name and bytes a line. */
import { expect, test } from "bun:test";
import { toldError } from "../../base/told-error.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { tableId } from "../../base/units.ts";
import { STRING } from "../../column/data-type.ts";
import { FragmentReader, readAnswer } from "./answer-reader.ts";
import { FrameReader } from "./frames.ts";
import { decodeCall, decodeFragments } from "./requests.ts";
import type { FragmentPiece } from "./shard-request.ts";

const lines = (await Bun.file(new URL("fixtures/v1.hex", import.meta.url)).text()).trim().split("\n");
const bytes = new Map(lines.map((line) => line.split(" ") as [string, string]).map(([name, hex]) => [name, Uint8Array.fromHex(hex)]));

function bytesOf(name: string): Uint8Array {
  const found = bytes.get(name);
  if (found === undefined) throw new Error(`a fixture of name ${name}`);
  return found;
}

function* framesOf(name: string) {
  const reader = new FrameReader("a fixture");
  reader.add(bytesOf(name));
  for (let frame = reader.next(); frame !== undefined; frame = reader.next()) yield frame;
  expect(reader.isBetween).toBe(true);
}

const MOMENT = { shard: 3, catalogVersion: 17, least: 1_099_511_627_776 };
const ENVIRONMENT = { now: 1_700_000_000_000_000_000n, timeZone: "Europe/Berlin", database: "public" };

test("a fragment", () => {
  expect(decodeFragments(bytesOf("fragment"))).toEqual({
    catalogVersion: 17,
    shards: [
      { shard: 3, least: 1_099_511_627_776 },
      { shard: 12, least: 0 },
    ],
    tableId: tableId(1024),
    plan: Uint8Array.of(1, 2, 3),
    environment: { ...ENVIRONMENT, isPostgres: true, client: { id: 7 } },
    memoryBytesMax: 1024,
    wantsMetrics: true,
    wantsRuns: false,
  });
});

test("calls", () => {
  expect(decodeCall(bytesOf("truncate"))).toEqual({
    ...MOMENT,
    kind: "truncate",
    tableId: tableId(5),
    ranges: [{ start: -1n, end: 2n ** 63n }],
  });
  expect(decodeCall(bytesOf("delete-keys"))).toEqual({
    ...MOMENT,
    kind: "delete-keys",
    tableId: tableId(5),
    tags: [["a", undefined]],
    times: [1n, 2n],
  });
});

test("the answer to a fragment", () => {
  const reader = new FragmentReader([STRING]);
  const pieces = [...framesOf("answer")].map((frame) => reader.read(frame));
  const series: FragmentPiece = {
    kind: "series",
    series: {
      count: 2,
      tags: [
        ["a", "b"],
        [undefined, "ü"],
      ],
      emptyTags: [1],
    },
  };
  const vectors = [{ kind: "dictionary" as const, codes: Uint32Array.of(1, 0, 1), start: 0, texts: [undefined, "x"] }];
  const runs = { starts: Uint32Array.of(0, 2, 3), series: Uint32Array.of(1, 0) };
  expect(pieces).toEqual([
    series,
    { kind: "alive" },
    { kind: "rows", batch: { rowCount: 3, vectors, runs }, bytes: expect.any(Number) as number },
    { kind: "end", workMs: 1.5, metrics: undefined },
  ]);
});

test("answers to calls", () => {
  const [facts] = framesOf("facts");
  const statistics = { rowCount: 1, memoryBytes: 2, fileBytes: 3, fileCount: 4, seriesCount: 5 };
  expect(readAnswer("facts", facts as never)).toEqual({
    kind: "answer",
    answer: [{ tableId: tableId(5), statistics, timeBounds: { start: 1n, end: 2n } }],
  });
  const [refused] = framesOf("refused");
  const error = toldError(new DbError(StatusCode.StorageUnavailable, "shard 3 is not on this node", { retryAfterSeconds: 1 }));
  expect(readAnswer("facts", refused as never)).toEqual({ kind: "refused", error });
});
