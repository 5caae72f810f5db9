import { expect, test } from "bun:test";
import fc from "fast-check";
import { attemptDamaged } from "../../../test/support/mutations.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { tableId } from "../../base/units.ts";
import { toldError } from "../../base/told-error.ts";
import { FragmentReader, readAnswer } from "./answer-reader.ts";
import { FRAME } from "./frames.ts";
import { decodeAnswer, decodeCall, decodeFragments, encodeAnswer, encodeCall, encodeFragments, readValue, valueBytes } from "./requests.ts";
import { toldError as toldErrorShape } from "./shapes.ts";
import type { FragmentsRequest, ShardAnswers, ShardCall } from "./shard-request.ts";

const ENVIRONMENT = { now: 1_700_000_000_000_000_000n, timeZone: "UTC", database: "public" };
const ID = tableId(1024);
const PLAN = Uint8Array.of(1, 2, 3);
const MOMENT = { shard: 3, catalogVersion: 17, least: 2 ** 40 };

const FRAGMENT: FragmentsRequest = {
  catalogVersion: 17,
  shards: [
    { shard: 3, least: 2 ** 40 },
    { shard: 65_535, least: 0 },
  ],
  tableId: ID,
  plan: PLAN,
  environment: ENVIRONMENT,
  memoryBytesMax: 512 * 1024 * 1024,
  wantsMetrics: true,
  wantsRuns: false,
};

const CALLS: readonly ShardCall[] = [
  { ...MOMENT, kind: "flush", tableId: ID },
  { ...MOMENT, kind: "compact", tableId: ID, timeRange: undefined },
  { ...MOMENT, kind: "compact", tableId: ID, timeRange: { start: -(2n ** 63n), end: 2n ** 63n } },
  { ...MOMENT, kind: "build-indexes", tableId: ID },
  { ...MOMENT, kind: "truncate", tableId: ID, ranges: undefined },
  { ...MOMENT, kind: "truncate", tableId: ID, ranges: [{ start: 1n, end: 2n }] },
  { ...MOMENT, kind: "delete", tableId: ID, plan: PLAN, environment: { ...ENVIRONMENT, isMysql: true, client: { id: 7, user: "a@b" } } },
  {
    ...MOMENT,
    kind: "delete-keys",
    tableId: ID,
    tags: [
      ["a", undefined],
      ["", "ü"],
    ],
    times: [-1n, 2n ** 62n],
  },
  { ...MOMENT, kind: "facts", tableId: undefined },
  { ...MOMENT, kind: "facts", tableId: ID },
  { ...MOMENT, kind: "files", tableId: ID },
];

const STATISTICS = { rowCount: 5, memoryBytes: 12.5, fileBytes: 2 ** 41, fileCount: 2, seriesCount: 3 };
const FILE = { id: 7, name: "7.sst", rowCount: 5, byteLength: 2 ** 33, minTime: -(2n ** 63n), maxTime: 5n, sequence: 2 ** 50 };

const ANSWERS: { readonly [K in ShardCall["kind"]]: ShardAnswers[K] } = {
  flush: null,
  compact: null,
  "build-indexes": null,
  truncate: null,
  delete: 12,
  "delete-keys": null,
  facts: [
    { tableId: ID, statistics: STATISTICS, timeBounds: { start: 1n, end: 2n ** 62n } },
    { tableId: ID, statistics: STATISTICS, timeBounds: undefined },
  ],
  files: [FILE],
};

test("a fragment comes back", () => {
  expect(decodeFragments(encodeFragments(FRAGMENT))).toEqual(FRAGMENT);
});

test("what only the frontend has does not go along", () => {
  const environment = { ...ENVIRONMENT, attributes: new Map([["a", "b"]]), planSize: { add: () => undefined } };
  expect(decodeFragments(encodeFragments({ ...FRAGMENT, environment })).environment).toEqual(ENVIRONMENT);
});

test("a fragment without a limit of memory comes back", () => {
  const request = { ...FRAGMENT, memoryBytesMax: Number.POSITIVE_INFINITY };
  expect(decodeFragments(encodeFragments(request)).memoryBytesMax).toBe(Number.POSITIVE_INFINITY);
});

test.each([0, -1, Number.NaN])("a fragment that may hold %p bytes is refused", (memoryBytesMax) => {
  expect(() => decodeFragments(encodeFragments({ ...FRAGMENT, memoryBytesMax }))).toThrow("it may hold no memory");
});

test("a fragment is of at least one shard, and of no more than there may be", () => {
  const ofShards = (count: number): FragmentsRequest => ({
    ...FRAGMENT,
    shards: Array.from({ length: count }, () => ({ shard: 1, least: 0 })),
  });
  expect(() => encodeFragments(ofShards(0))).toThrow("1 to 1024 shards; got 0");
  expect(() => encodeFragments(ofShards(1025))).toThrow("1 to 1024 shards; got 1025");
  expect(decodeFragments(encodeFragments(ofShards(1024))).shards.length).toBe(1024);
});

test("calls come back", () => {
  for (const call of CALLS) expect(decodeCall(encodeCall(call))).toEqual(call);
});

test("keys whose tags are not as many as their times are refused", () => {
  const call: ShardCall = { ...MOMENT, kind: "delete-keys", tableId: ID, tags: [["a"]], times: [1n, 2n] };
  expect(() => decodeCall(encodeCall(call))).toThrow("its keys have not as many tags as times");
});

test("answers to calls come back", () => {
  for (const kind of Object.keys(ANSWERS) as ShardCall["kind"][]) {
    expect(decodeAnswer(kind, encodeAnswer(kind, ANSWERS[kind]))).toEqual(ANSWERS[kind]);
  }
});

test("errors come back with all that callers look at", () => {
  const errors = [
    new DbError(StatusCode.RateLimited, "cannot x: y", { retryAfterSeconds: 2.5 }),
    new DbError(StatusCode.StorageUnavailable, "damaged", {
      details: { corruption: { file: "a.sst", offset: undefined, kind: "checksum" }, position: { line: 1, column: 2 }, reason: "r" },
    }),
    new TypeError("a bug"),
  ];
  for (const error of errors) {
    const told = toldError(error);
    expect(readValue(toldErrorShape, valueBytes(toldErrorShape, told), "an error")).toEqual(told);
  }
});

test("a newer version is refused by its number, whatever follows", () => {
  const bytes = encodeFragments(FRAGMENT);
  bytes[2] = 2;
  bytes.fill(0, 4);
  const why = "cannot read the request of a frontend: it is of version 2, and this node reads versions 1 to 1; update this node";
  expect(() => decodeFragments(bytes)).toThrow(why);
  expect(() => decodeCall(bytes)).toThrow(why);
});

test("one kind of request is not taken for the other", () => {
  expect(() => decodeCall(encodeFragments(FRAGMENT))).toThrow("cannot read the request of a frontend");
  expect(() => decodeFragments(encodeCall(CALLS[0] as ShardCall))).toThrow("cannot read the request of a frontend");
});

test("damaged requests and answers are refused, and nothing else happens", () => {
  const attempt = (read: (bytes: Uint8Array) => unknown, good: Uint8Array): void =>
    attemptDamaged(good, { seed: 9, numRuns: 200 }, (bytes) => {
      try {
        read(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(DbError);
      }
    });
  attempt(decodeFragments, encodeFragments(FRAGMENT));
  for (const call of CALLS) attempt(decodeCall, encodeCall(call));
  attempt((bytes) => decodeAnswer("facts", bytes), encodeAnswer("facts", ANSWERS.facts));
  attempt((bytes) => decodeAnswer("files", bytes), encodeAnswer("files", ANSWERS.files));
});

test("any bytes are refused as a frame of any kind, and nothing else happens", () => {
  fc.assert(
    fc.property(fc.nat(255), fc.uint8Array({ maxLength: 60 }), (kind, payload) => {
      for (const read of [() => new FragmentReader([]).read({ kind, payload }), () => readAnswer("facts", { kind, payload })]) {
        try {
          read();
        } catch (error) {
          expect(error).toBeInstanceOf(DbError);
        }
      }
    }),
    { seed: 13, numRuns: 2000 },
  );
});

test("nothing may follow the end of an answer", () => {
  const reader = new FragmentReader([]);
  const told = valueBytes(toldErrorShape, toldError(new DbError(StatusCode.Cancelled, "c")));
  expect(reader.read({ kind: FRAME.failed, payload: told }).kind).toBe("failed");
  expect(() => reader.read({ kind: FRAME.alive, payload: new Uint8Array(0) })).toThrow("a frame follows its end");
});
