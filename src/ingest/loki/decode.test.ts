import { describe, expect, test } from "bun:test";
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { rowsOf } from "../../../test/support/batch-rows.ts";
import { attemptDamaged } from "../../../test/support/mutations.ts";
import { DbError } from "../../base/error.ts";
import { FIELD_TEXT_BYTES_MAX } from "../../base/limits.ts";
import { LokiBodyError, LokiDecoder, type LokiForm, type LokiResult } from "./decode.ts";
import { parseLabels } from "./labels.ts";

const encoder = new TextEncoder();

/** A row as tests write it: labels, nanoseconds, line, metadata. */
type Row = readonly [labels: Readonly<Record<string, string>>, time: bigint, line: string, metadata: unknown];

function plain(result: LokiResult): Row[] {
  return rowsOf(result.batch).map(({ tags, time, fields }) => [
    tags,
    time,
    String(fields["line"]),
    JSON.parse(String(fields["structured_metadata"])),
  ]);
}

/** Decodes a body twice, since the second time its streams are known, and compares rows and counts. */
function check(body: Uint8Array | string, want: readonly Row[], left: { readonly skipped?: number; readonly refused?: number } = {}): void {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const decoder = new LokiDecoder();
  for (let round = 0; round < 2; round++) {
    const result = decoder.decode(bytes, typeof body === "string" ? "json" : "protobuf", "logs");
    expect(plain(result)).toEqual([...want]);
    expect(result.rowCount).toBe(want.length);
    expect([result.skipped?.count ?? 0, result.refused?.count ?? 0]).toEqual([left.skipped ?? 0, left.refused ?? 0]);
  }
}

function refuse(body: Uint8Array | string, message: RegExp): void {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const decode = (): LokiResult => new LokiDecoder().decode(bytes, typeof body === "string" ? "json" : "protobuf", "logs");
  expect(decode).toThrow(LokiBodyError);
  expect(decode).toThrow(message);
}

interface Entry {
  readonly seconds?: number;
  readonly nanos?: number;
  readonly line: string | Uint8Array;
  readonly metadata?: readonly (readonly [string, string])[];
}

interface PushStream {
  readonly labels: string;
  readonly entries: readonly Entry[];
}

function entryBytes({ seconds, nanos, line, metadata }: Entry): Uint8Array {
  const writer = new BinaryWriter();
  if (seconds !== undefined) {
    const time = new BinaryWriter()
      .tag(1, 0)
      .int64(seconds)
      .tag(2, 0)
      .int32(nanos ?? 0);
    writer.tag(1, 2).bytes(time.finish());
  }
  writer.tag(2, 2).bytes(typeof line === "string" ? encoder.encode(line) : line);
  for (const [name, value] of metadata ?? []) {
    writer.tag(3, 2).bytes(new BinaryWriter().tag(1, 2).string(name).tag(2, 2).string(value).finish());
  }
  return writer.finish();
}

function push(streams: readonly PushStream[], labelsLast = false): Uint8Array {
  const writer = new BinaryWriter();
  for (const { labels, entries } of streams) {
    const stream = new BinaryWriter();
    if (!labelsLast) stream.tag(1, 2).string(labels);
    for (const entry of entries) stream.tag(2, 2).bytes(entryBytes(entry));
    if (labelsLast) stream.tag(1, 2).string(labels);
    writer.tag(1, 2).bytes(stream.tag(3, 0).uint64(7).finish());
  }
  return writer.tag(2, 2).string("loki").finish();
}

/** The oracle: the message read by the library, row by row. */
function naive(bytes: Uint8Array): Row[] {
  const rows: Row[] = [];
  const each = (source: Uint8Array, visit: (field: number, reader: BinaryReader) => boolean): void => {
    const reader = new BinaryReader(source);
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag();
      if (!visit(field, reader)) reader.skip(wire, field);
    }
  };
  each(bytes, (field, reader) => {
    if (field !== 1) return false;
    let labels = "";
    const entries: Uint8Array[] = [];
    each(reader.bytes(), (inner, stream) => {
      if (inner === 1) labels = stream.string();
      else if (inner === 2) entries.push(stream.bytes());
      else return false;
      return true;
    });
    const parsed = parseLabels(labels) ?? { names: [], values: [] };
    const tags = Object.fromEntries(parsed.names.map((name, i) => [name, parsed.values[i] ?? ""]));
    for (const entry of entries) {
      let time = 0n;
      let line = "";
      const metadata: [string, string][] = [];
      each(entry, (part, value) => {
        if (part === 1) {
          each(value.bytes(), (number, clock) => {
            time += number === 1 ? BigInt(clock.int64()) * 1_000_000_000n : BigInt(clock.int32());
            return true;
          });
        } else if (part === 2) line = value.string();
        else if (part === 3) {
          const pair = ["", ""];
          each(value.bytes(), (number, text) => {
            pair[number - 1] = text.string();
            return true;
          });
          metadata.push([pair[0] ?? "", pair[1] ?? ""]);
        } else return false;
        return true;
      });
      rows.push([tags, time, line, Object.fromEntries(metadata)]);
    }
    return true;
  });
  return rows;
}

describe("protobuf", () => {
  test("the contract's example", () => {
    const labels = '{service="test",source="integration",wadaxi="do anything"}';
    const tags = { service: "test", source: "integration", wadaxi: "do anything" };
    const metadata = [
      ["key1", "value1"],
      ["key2", "value2"],
    ] as const;
    const entries = [{ seconds: 1_731_000_000, nanos: 5, line: "this is a log message", metadata }];
    check(push([{ labels, entries }]), [[tags, 1_731_000_000_000_000_005n, "this is a log message", { key1: "value1", key2: "value2" }]]);
  });

  test("labels that come behind the entries, and labels that cannot be read", () => {
    const entries = [
      { seconds: 1, line: "a" },
      { seconds: 2, line: "" },
    ];
    check(push([{ labels: '{a="1"}', entries }], true), [
      [{ a: "1" }, 1_000_000_000n, "a", {}],
      [{ a: "1" }, 2_000_000_000n, "", {}],
    ]);
    check(push([{ labels: "{oops", entries: entries.slice(0, 1) }]), [[{}, 1_000_000_000n, "a", {}]]);
    const result = new LokiDecoder().decode(push([{ labels: "{oops", entries }]), "protobuf", "logs");
    expect(result.unlabelled).toEqual({ count: 1, reason: "no label set: '{oops'" });
  });

  test("an entry without a time is skipped, one beyond 64 bits is refused", () => {
    const entries = [
      { line: "none" },
      { seconds: 9_300_000_000, line: "late" },
      { seconds: -9_300_000_000, line: "early" },
      { seconds: 3, line: "x" },
    ];
    check(push([{ labels: "{}", entries }]), [[{}, 3_000_000_000n, "x", {}]], { skipped: 1, refused: 2 });
  });

  test("times before 1970, far apart, and with nanoseconds beyond a second", () => {
    const entries = [
      { seconds: 1_731_000_000, line: "a" },
      { seconds: -5, nanos: -1, line: "b" },
      { seconds: 1_731_000_000, nanos: 1_500_000_000, line: "c" },
    ];
    const rows = plain(new LokiDecoder().decode(push([{ labels: "{}", entries }]), "protobuf", "logs")).map(([, time, line]) => [
      line,
      time,
    ]);
    expect(rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))).toEqual([
      ["a", 1_731_000_000_000_000_000n],
      ["b", -5_000_000_001n],
      ["c", 1_731_000_001_500_000_000n],
    ]);
  });

  test("bytes that are no UTF-8 become U+FFFD, and no character is made of two lines", () => {
    const entries = [
      { seconds: 1, line: Uint8Array.of(0x61, 0xc3) },
      { seconds: 2, line: Uint8Array.of(0xa9, 0x62) },
      { seconds: 3, line: "é" },
    ];
    check(push([{ labels: "{}", entries }]), [
      [{}, 1_000_000_000n, "a\ufffd", {}],
      [{}, 2_000_000_000n, "\ufffdb", {}],
      [{}, 3_000_000_000n, "é", {}],
    ]);
  });

  test("a line over the limit is refused and its neighbours are kept", () => {
    const entries = [
      { seconds: 1, line: "a" },
      { seconds: 2, line: new Uint8Array(FIELD_TEXT_BYTES_MAX + 1) },
      { seconds: 3, line: "c" },
    ];
    check(
      push([{ labels: "{}", entries }]),
      [
        [{}, 1_000_000_000n, "a", {}],
        [{}, 3_000_000_000n, "c", {}],
      ],
      { refused: 1 },
    );
  });

  test("metadata: escapes, and of equal names the last", () => {
    const few = [
      ["a", '1"\\\n'],
      ["b", "2"],
      ["a", "3\u0001"],
    ] as const;
    const many = Array.from({ length: 20 }, (_, i) => [`k${i % 7}`, String(i)] as const);
    const entries = [
      { seconds: 1, line: "x", metadata: few },
      { seconds: 2, line: "y", metadata: many },
    ];
    const want = [few, many].map((pairs) => Object.fromEntries(pairs));
    check(push([{ labels: "{}", entries }]), [
      [{}, 1_000_000_000n, "x", want[0]],
      [{}, 2_000_000_000n, "y", want[1]],
    ]);
  });

  test("random pushes are read as by the library", () => {
    const text = fc.string({ unit: "binary", maxLength: 12 }).map((value) => value.toWellFormed());
    const entry = fc.record({
      seconds: fc.integer({ min: 0, max: 4_000_000 }),
      nanos: fc.integer({ min: 0, max: 999_999_999 }),
      line: text,
      metadata: fc.array(fc.tuple(text, text), { maxLength: 10 }),
    });
    const labels = fc.constantFrom("{}", '{a="1"}', '{a="1",b="x y"}', "broken", '{é="ü"}');
    const streams = fc.array(fc.record({ labels, entries: fc.array(entry, { maxLength: 5 }) }), { maxLength: 4 });
    fc.assert(
      fc.property(streams, fc.boolean(), (list, last) => {
        const bytes = push(list, last);
        expect(plain(new LokiDecoder().decode(bytes, "protobuf", "logs"))).toEqual(naive(bytes));
      }),
      { seed: 21, numRuns: 60 },
    );
  });

  test("cut short or with bytes changed, it is refused or read as the library reads it", () => {
    const metadata = [["key", "value"]] as const;
    const good = push([
      {
        labels: '{a="1"}',
        entries: [
          { seconds: 1, nanos: 2, line: "hello", metadata },
          { seconds: 3, line: "x" },
        ],
      },
    ]);
    const decoder = new LokiDecoder();
    attemptDamaged(good, { seed: 22, numRuns: 500 }, (bytes) => attempt(decoder, bytes, "protobuf"));
    refuse(good.subarray(0, good.length - 20), /at byte \d+$/);
  });
});

function attempt(decoder: LokiDecoder, bytes: Uint8Array, form: LokiForm): void {
  try {
    plain(decoder.decode(bytes, form, "logs"));
  } catch (error) {
    expect(error instanceof LokiBodyError || error instanceof DbError).toBe(true);
  }
}

describe("JSON", () => {
  const T = "1731000000000000005";
  const TIME = 1_731_000_000_000_000_005n;

  test("streams, values, metadata", () => {
    check(`{"streams":[{"stream":{"b":"2","a":"1"},"values":[["${T}","one"],["${T}","two",{"k":"v","n":1,"e":"\\u00e9\\""}]]}]}`, [
      [{ a: "1", b: "2" }, TIME, "one", {}],
      [{ a: "1", b: "2" }, TIME, "two", { k: "v", e: 'é"' }],
    ]);
  });

  test("columns are time, line, metadata; labels are tags by name", () => {
    const result = new LokiDecoder().decode(encoder.encode(`{"streams":[{"stream":{"b":"2","a":"1"},"values":[["1","x"]]}]}`), "json", "t");
    const [write] = result.batch.tables;
    expect(write?.shape?.map(({ name }) => name)).toEqual(["greptime_timestamp", "line", "structured_metadata"]);
    expect(result.batch.dictionary.tagsOf(write?.keys[0] ?? -1)).toEqual({ table: "t", names: ["a", "b"], values: ["1", "2"] });
  });

  test("values before labels, escapes in lines, blanks, other members", () => {
    check(` {"x":[1,{"streams":2}], "streams" : [ { "values" : [ [ "${T}" , "a\\n\\ud83d\\ude00" ] ] , "stream" : { "a" : "1" } } ] } `, [
      [{ a: "1" }, TIME, "a\n\u{1f600}", {}],
    ]);
    check(`{"streams":[{"values":[["-1","x"]]}]}`, [[{}, -1n, "x", {}]]);
  });

  test("what is malformed is skipped, the rest is kept", () => {
    const bad = `["${T}"],[],5,[${T},"n"],["${T}",5],["12x","l"],["","l"],["${"9".repeat(20)}","l"]`;
    const values = `${bad},["${T}","good",7,8],["${T}","last",{"a":null}]`;
    const want = [
      [{ a: "1" }, TIME, "good", {}],
      [{ a: "1" }, TIME, "last", {}],
    ] as const;
    check(`{"streams":[7,{"stream":{"a":"1","n":5},"values":[${values}]},{"stream":{}},{"stream":{},"values":{}}]}`, want, { skipped: 11 });
  });

  test("a label that would hide a column stands in the metadata", () => {
    check(`{"streams":[{"stream":{"line":"L","app":"a"},"values":[["${T}","x"],["${T}","y",{"k":"v"}]]}]}`, [
      [{ app: "a" }, TIME, "x", { line: "L" }],
      [{ app: "a" }, TIME, "y", { line: "L", k: "v" }],
    ]);
  });

  test("too many or too long labels refuse the stream's entries", () => {
    const long = "x".repeat(70_000);
    check(
      `{"streams":[{"stream":{"a":"${long}"},"values":[["1","x"],["2","y"]]},{"stream":{"a":"1"},"values":[["3","z"]]}]}`,
      [[{ a: "1" }, 3n, "z", {}]],
      {
        refused: 2,
      },
    );
    check(`{"streams":[{"stream":{"${"n".repeat(1025)}":"1"},"values":[["1","x"]]}]}`, [], { refused: 1 });
  });

  test("no entries at all", () => {
    for (const body of [`{"streams":[]}`, `{"streams":[{"stream":{"a":"1"},"values":[]}]}`]) check(body, []);
  });

  test("what is no push is refused whole", () => {
    refuse("", /EOF while parsing a value at line 1 column 1/);
    refuse("[]", /not an object/);
    refuse("{}", /no `streams`/);
    refuse(`{"streams":{}}`, /`streams` is not an array/);
    refuse(`{"streams":[{"stream":{},"values":[["1","a"]]}]`, /EOF while parsing an object at line 1 column 48/);
    refuse(`{"streams":${"[".repeat(1000)}`, /levels of nesting/);
    refuse(`{"streams":[]} x`, /trailing characters/);
  });

  test("random pushes are read as JSON.parse reads them; with bytes changed they never do harm", () => {
    const text = fc.string({ unit: "binary", maxLength: 10 }).map((value) => value.toWellFormed());
    const value = fc.tuple(fc.nat(4_000_000).map(String), text, fc.dictionary(text, text, { maxKeys: 4 }));
    const labels = fc.dictionary(
      fc.constantFrom("a", "b", "c d", "é"),
      text.filter((label) => label !== ""),
      { maxKeys: 3 },
    );
    const body = fc.array(fc.record({ stream: labels, values: fc.array(value, { maxLength: 4 }) }), { maxLength: 3 });
    const decoder = new LokiDecoder();
    fc.assert(
      fc.property(body, fc.nat(), fc.nat(255), (streams, place, byte) => {
        const bytes = encoder.encode(JSON.stringify({ streams }));
        const want = streams.flatMap(({ stream, values }) =>
          values.map(([time, line, metadata]): Row => [{ ...stream }, BigInt(time), line, { ...metadata }]),
        );
        expect(plain(decoder.decode(bytes, "json", "logs"))).toEqual(want);
        bytes[place % bytes.length] = byte;
        attempt(decoder, bytes, "json");
      }),
      { seed: 23, numRuns: 200 },
    );
  });
});

test("forgets streams when their memory is full, and keeps two tables apart", () => {
  const decoder = new LokiDecoder(1000);
  for (let i = 0; i < 50; i++) {
    const table = i % 2 === 0 ? "t1" : "t2";
    const result = decoder.decode(
      encoder.encode(`{"streams":[{"stream":{"i":"${i % 10}","line":"q"},"values":[["1","x"]]}]}`),
      "json",
      table,
    );
    expect(rowsOf(result.batch)).toEqual([
      { table, time: 1n, tags: { i: String(i % 10) }, fields: { line: "x", structured_metadata: '{"line":"q"}' } },
    ]);
  }
});
