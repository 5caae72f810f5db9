import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { STRING } from "../../column/data-type.ts";
import { RowCollector, tagKey } from "../../table/rows/row-collector.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { SchemaLookup } from "../../table/write-batch.ts";
import { PipelineTime, WholeFloat } from "../common/value.ts";
import { decodeEvents, decodeRaw, tableName } from "./decode.ts";
import { eventNanos } from "./event-time.ts";
import { promoteTags } from "./promote.ts";
import type { EventOptions, RawOptions } from "./types.ts";

const OPTIONS: EventOptions = { table: "t", timeColumn: "ts", nowNanos: 5n, isTimeNumber: true };
const RAW: RawOptions = { ...OPTIONS, host: undefined, source: undefined, sourcetype: undefined, time: undefined, lineBreaker: undefined };

function check(text: string, want: Readonly<Record<string, readonly unknown[]>>): void {
  const decoded = decodeEvents(text, OPTIONS);
  if (decoded.kind !== "events") throw new Error(`refused: ${decoded.text}`);
  expect(Object.fromEntries(decoded.tables.map(({ table, rows }) => [table, rows])) as unknown).toEqual(want);
}

function refuses(text: string, code: number): void {
  expect(decodeEvents(text, OPTIONS)).toMatchObject({ kind: "refused", code });
}

describe("events", () => {
  test("become rows; time, index and fields are no columns", () => {
    check('{"event":"a","time":2,"host":"h","fields":{"env":"x","n":null},"extra":1}', {
      t: [{ env: "x", event: "a", host: "h", extra: 1, ts: 2e9 }],
    });
    check('[{"event":1},{"event":{"b":1}}]7{"event":false}', {
      t: [
        { event: 1, ts: 5 },
        { event: { b: 1 }, ts: 5 },
        { event: false, ts: 5 },
      ],
    });
    check('{"event":"a","index":"my index"}{"event":"b","index":"9"}{"event":"c","index":""}', {
      my_index: [{ event: "a", ts: 5 }],
      _9: [{ event: "b", ts: 5 }],
      t: [{ event: "c", ts: 5 }],
    });
  });

  test("a stored pipeline gets times as times", () => {
    const decoded = decodeEvents('{"event":"a"}', { ...OPTIONS, isTimeNumber: false });
    expect(decoded).toMatchObject({ tables: [{ rows: [{ ts: new PipelineTime(5n, "nanosecond") }] }] });
  });

  test("fields become tags behind those of Splunk", () => {
    expect(decodeEvents('{"event":"a","fields":{"b":1,"a":2}}', OPTIONS)).toMatchObject({
      tags: ["host", "source", "sourcetype", "b", "a"],
    });
  });

  test("one bad event refuses all", () => {
    refuses(" ", 5);
    refuses('{"event":"a"}{', 6);
    refuses('["a"]', 6);
    refuses('{"event":"a"}{"host":"h"}', 12);
    refuses('{"event":null}', 12);
    refuses('{"event":" \\n"}', 13);
    refuses('{"event":"a","time":"x"}', 6);
    refuses('{"event":"a","time":1e300}', 6);
    refuses('{"event":"a","fields":{"a":{"b":1}}}', 6);
    refuses('{"event":"a","fields":[1]}', 6);
    refuses('{"event":"a","index":7}', 7);
  });

  test("random text is refused or taken, never more", () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), (json, text) => {
        for (const each of [json, text, `{"event":${json}}`, `{"event":"a","fields":${json}}`])
          expect(["events", "refused"]).toContain(decodeEvents(each, OPTIONS).kind);
      }),
      { numRuns: 300, seed: 7 },
    );
  });
});

describe("raw text", () => {
  test("is one event, or one a piece that is not blank", () => {
    expect(decodeRaw("a\nb", RAW)).toMatchObject({ tables: [{ table: "t", rows: [{ message: "a\nb", ts: 5 }] }], tags: [] });
    const pieces = decodeRaw("a\n\nb\n", { ...RAW, lineBreaker: "\n", host: "h", time: "1.5" });
    expect(pieces).toMatchObject({ tags: ["host"], tables: [{ rows: [{ message: "a", host: "h", ts: 1.5e9 }, { message: "b" }] }] });
    expect(decodeRaw(" ", RAW)).toMatchObject({ code: 5 });
    expect(decodeRaw("ab".repeat(1_000_001), { ...RAW, lineBreaker: "b" })).toMatchObject({
      code: 6,
      text: expect.stringMatching(/more than 1000000 events/),
    });
    expect(decodeRaw("x".repeat(16 * 1024 * 1024 + 1), RAW)).toMatchObject({ code: 6, text: expect.stringMatching(/16777216 bytes/) });
    expect(decodeRaw("a", { ...RAW, time: "x" })).toMatchObject({ code: 6 });
  });
});

describe("times", () => {
  test.each([
    [1_700_000_000, 1_700_000_000_000_000_000n],
    [1_700_000_000.25, 1_700_000_000_250_000_000n],
    ["1700000000.123456789", 1_700_000_000_123_456_789n],
    ["1700000000123", 1_700_000_000_123_000_000n],
    ["1700000000123.4567891", 1_700_000_000_123_456_789n],
    [new WholeFloat(12), 12_000_000_000n],
    [-1, -1_000_000_000n],
    ["", undefined],
    ["1e9", undefined],
    [true, undefined],
    ["99999999999999999", undefined],
  ])("%p is %p", (value, want) => {
    expect(eventNanos(value)).toBe(want as bigint);
  });
});

describe("names and tags", () => {
  test("an index becomes a table name", () => {
    expect(["a b", "9x", "ok-1", "é"].map(tableName)).toEqual(["a_b", "_9x", "ok-1", "_"]);
  });

  function promoted(lookup: SchemaLookup) {
    const dictionary = new SeriesDictionary();
    const rows = new RowCollector("t", "nanosecond");
    for (const [i, host] of ["h", "h", undefined].entries()) {
      rows.begin(BigInt(i), tagKey(dictionary, "t", [], []));
      rows.field("event", STRING).set(`e${i}`);
      if (host !== undefined) rows.field("host", STRING).set(host);
    }
    const shape = [
      { name: "ts", type: { kind: "timestamp", unit: "nanosecond" }, semantic: "timestamp", nullable: false },
      { name: "event", type: STRING, semantic: "field", nullable: true },
      { name: "host", type: STRING, semantic: "field", nullable: true },
    ] as const;
    return promoteTags({ dictionary, tables: rows.writes(shape) }, ["host", "source"], "public", lookup);
  }

  test("columns that are promoted leave the fields, and make one series a set", () => {
    const { dictionary, tables } = promoted({ columnOf: () => undefined });
    const [table] = tables;
    expect(table?.fields.map(({ name }) => name)).toEqual(["event"]);
    expect(table?.shape?.map(({ name, semantic }) => [name, semantic])).toEqual([
      ["ts", "timestamp"],
      ["host", "tag"],
      ["event", "field"],
    ]);
    expect([...(table?.keys ?? [])]).toEqual([0, 0, 1]);
    expect([dictionary.tagsOf(0).values, dictionary.tagsOf(1).values]).toEqual([["h"], []]);
  });

  test("a column that its table has as a field stays one", () => {
    const { tables } = promoted({ columnOf: () => ({ type: STRING, semantic: "field" }) });
    expect(tables[0]?.fields.map(({ name }) => name)).toEqual(["event", "host"]);
  });
});
