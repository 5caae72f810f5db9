import { expect, test } from "bun:test";
import fc from "fast-check";
import { DbError } from "../../base/error.ts";
import { ran, runOptions } from "../../../test/support/pipeline/shown.ts";
import { compilePipeline, identityPipeline } from "./decode.ts";
import { jsonText } from "./json/json-text.ts";
import { jsonValue } from "../common/json-value.ts";
import { compileTimeFormat } from "./strftime.ts";
import { timeZoneOf } from "./time-zone.ts";
import type { PipelineValue } from "../common/value.ts";

const SEED = { seed: 20_240_525, numRuns: 200 };

/** A pipeline with every kind of processor. */
const EVERYTHING = `
version: 2
processors:
  - dissect: {field: message, patterns: ['%{a} [%{b->}] %{+c} %{+c}', '%{a}']}
  - regex: {field: a, pattern: '(?<word>\\w+)', ignore_missing: true}
  - gsub: {field: b, pattern: '[a-c]+', replacement: '$0$0', ignore_missing: true}
  - csv: {field: c, target_fields: 'd,e', ignore_missing: true}
  - cmcd: {field: d, ignore_missing: true}
  - urlencoding: {field: e, ignore_missing: true}
  - digest: {field: message, presets: [numbers, quoted, bracketed, uuid, ip]}
  - decolorize: {field: message}
  - letter: {field: message, method: capital}
  - filter: {field: message, targets: [drop]}
  - date: {field: a, formats: ['%Y-%m-%d', '%s'], ignore_missing: true}
  - vrl: {source: ".x, err = parse_json(.message)\\n."}
transform:
  - {field: ts, type: 'time, ms', index: timestamp, on_failure: default}
  - {field: x, type: json, on_failure: ignore}
  - {field: word, type: string, tag: true}
`;

/** Runs and gives the errors that are the world's; any other fails the test. */
function survives(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
  }
}

const value = fc.jsonValue({ maxDepth: 4 });

test("any document goes through the identity or fails with a clear error", () => {
  const property = fc.property(fc.array(value, { maxLength: 5 }), fc.boolean(), (rows, skipError) => {
    survives(() =>
      ran(
        identityPipeline(),
        rows.map((row) => jsonValue(JSON.stringify(row))),
        runOptions({ skipError }),
      ),
    );
  });
  fc.assert(property, SEED);
});

test("every row is kept, filtered or failed", () => {
  const pipeline = compilePipeline(EVERYTHING);
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("[", "] ", " ", '"', "drop", "2024-01-01", "%41", "br=1,", "10.0.0.1", "\u001b[1m", "{}"),
  );
  const message = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
  const row = fc.oneof(
    message.map((text): PipelineValue => ({ message: text })),
    value.map((document) => document as PipelineValue),
  );
  const property = fc.property(fc.array(row, { maxLength: 6 }), (rows) => {
    const result = ran(pipeline, rows, runOptions({ skipError: true }));
    expect(result.rowCount + result.filteredCount + result.failedCount).toBe(rows.length);
  });
  fc.assert(property, SEED);
});

test("any definition compiles or is refused", () => {
  const broken = fc.tuple(fc.nat(EVERYTHING.length), fc.nat(12), fc.string({ maxLength: 4 })).map(([at, cut, put]) => {
    return EVERYTHING.slice(0, at) + put + EVERYTHING.slice(at + cut);
  });
  fc.assert(
    fc.property(broken, (yaml) => survives(() => compilePipeline(yaml))),
    SEED,
  );
});

test("JSON goes to values and back", () => {
  const property = fc.property(fc.jsonValue({ maxDepth: 3 }), (document) => {
    expect(JSON.parse(jsonText(jsonValue(JSON.stringify(document))))).toEqual(JSON.parse(JSON.stringify(document)));
  });
  fc.assert(property, SEED);
});

test("times that a format prints are read back", () => {
  const format = compileTimeFormat("%Y-%m-%dT%H:%M:%S%.3f%#z");
  const property = fc.property(fc.date({ min: new Date(-8e12), max: new Date(9e12), noInvalidDate: true }), (date) => {
    expect(format?.parse(date.toISOString(), timeZoneOf("UTC"))?.value).toBe(BigInt(date.getTime()) * 1_000_000n);
  });
  fc.assert(property, SEED);
});

test("any text is a format or none, and reads any text or not", () => {
  const format = fc.array(
    fc.oneof(fc.constantFrom("%Y", "%m", "%d", "%H", "%.3f", "%z", "%Z", "%p", "%+", "%s", " ", "-"), fc.string({ maxLength: 3 })),
  );
  const property = fc.property(format, fc.string(), (items, text) => {
    compileTimeFormat(items.join(""))?.parse(text, timeZoneOf("Europe/Berlin"));
  });
  fc.assert(property, SEED);
});
