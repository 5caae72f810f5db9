/** The protobuf form of a push, read by hand, beside @bufbuild/protobuf: over pushes as clients send them and over broken ones. */
import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { rowsOf } from "../../../test/support/batch-rows.ts";
import { mutated } from "../../../test/support/mutations.ts";
import { canCompileProtos, type Codec, codecOf } from "../../../test/support/proto-schema.ts";
import { LokiBodyError, LokiDecoder } from "./decode.ts";
import { parseLabels } from "./labels.ts";

const SEED = { seed: 20_261_121, numRuns: 700 };
const SECONDS_MAX = 9_223_372_036n;
const LOG_COLUMNS = ["greptime_timestamp", "line", "structured_metadata"];

interface Pair {
  readonly name: string;
  readonly value: string;
}

interface Push {
  readonly streams: readonly {
    readonly labels: string;
    readonly entries: readonly {
      readonly timestamp?: { readonly seconds: bigint; readonly nanos: number };
      readonly line: string;
      readonly structuredMetadata: readonly Pair[];
    }[];
  }[];
}

/** buf takes 0.2 s, and much more on a machine where everything else runs, too. */
const COMPILE_MS_MAX = 60_000;

let codec: Codec<Push>;
const canCompile = canCompileProtos();
if (!canCompile) process.stderr.write("loki/oracle.test.ts is skipped: buf cannot run here\n");
beforeAll(() => {
  if (canCompile) {
    codec = codecOf("logproto.PushRequest", ["logproto.PushRequest.format", "logproto.StreamAdapter.hash", "logproto.EntryAdapter.parsed"]);
  }
}, COMPILE_MS_MAX);

/** Rows, and how many entries are left out. */
function naive({ streams }: Push): readonly [rows: unknown[], skipped: number, refused: number] {
  const rows: unknown[] = [];
  let skipped = 0;
  let refused = 0;
  for (const { labels, entries } of streams) {
    const { names, values } = parseLabels(labels) ?? { names: [], values: [] };
    const all = names.map((name, i) => [name, values[i] ?? ""] as const);
    const tags = Object.fromEntries(all.filter(([name]) => !LOG_COLUMNS.includes(name)));
    const inMetadata = all.filter(([name]) => LOG_COLUMNS.includes(name));
    for (const { timestamp, line, structuredMetadata } of entries) {
      if (timestamp === undefined) {
        skipped++;
        continue;
      }
      const time = timestamp.seconds * 1_000_000_000n + BigInt(timestamp.nanos);
      const second = time / 1_000_000_000n - (time % 1_000_000_000n < 0n ? 1n : 0n);
      if (second < -SECONDS_MAX || second >= SECONDS_MAX) refused++;
      else
        rows.push([tags, time, line, Object.fromEntries([...inMetadata, ...structuredMetadata.map(({ name, value }) => [name, value])])]);
    }
  }
  return [rows, skipped, refused];
}

function byHand(bytes: Uint8Array, decoder: LokiDecoder): ReturnType<typeof naive> {
  const { batch, skipped, refused } = decoder.decode(bytes, "protobuf", "logs");
  const rows = rowsOf(batch).map(({ tags, time, fields }) => [
    tags,
    time,
    String(fields["line"]),
    JSON.parse(String(fields["structured_metadata"])),
  ]);
  return [rows, skipped?.count ?? 0, refused?.count ?? 0];
}

/** Both make the same of a push. @returns whether they were compared */
function agree(bytes: Uint8Array, decoder: LokiDecoder): boolean {
  let isBroken = false;
  try {
    if (!codec.isWellTyped(bytes)) return false; // The library reads fields of a foreign wire type as if they were known.
  } catch {
    isBroken = true;
  }
  if (isBroken) {
    expect(() => byHand(bytes, decoder)).toThrow(LokiBodyError);
    return true;
  }
  let message: Push;
  try {
    message = codec.read(bytes);
  } catch (error) {
    // Logs are worth more than their encoding: what is not UTF-8 is kept, with a mark in the place of each broken character.
    expect(String(error)).toMatch(/utf-8/i);
    byHand(bytes, decoder);
    return false;
  }
  expect(byHand(bytes, decoder)).toEqual(naive(message));
  return true;
}

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const labels = fc.oneof(
  fc.array(fc.tuple(fc.constantFrom("job", "host", "line", "ü"), text), { maxLength: 3 }).map((pairs) => {
    return `{${pairs.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(", ")}}`;
  }),
  fc.constantFrom("", "{}", "{job=`raw`}", "no labels"),
);
const padded = (min: number, max: number, length: number): fc.Arbitrary<string> =>
  fc.integer({ min, max }).map((value) => String(value).padStart(length, "0"));
const moment = fc
  .tuple(padded(1, 9999, 4), padded(1, 12, 2), padded(1, 28, 2), padded(0, 23, 2), padded(0, 999_999_999, 9))
  .map(([year, month, day, hour, nanos]) => `${year}-${month}-${day}T${hour}:59:59.${nanos}Z`);
const pair = fc.record({ name: fc.constantFrom("a", "b", "line"), value: text });
const entry = fc.record(
  { timestamp: moment, line: text, structuredMetadata: fc.array(pair, { maxLength: 3 }) },
  { requiredKeys: ["line"] },
);
const pushes = fc
  .array(fc.record({ labels, entries: fc.array(entry, { maxLength: 4 }) }), { maxLength: 3 })
  .map((streams) => codec.write({ streams }));

describe.skipIf(!canCompile)("a push", () => {
  const decoder = new LokiDecoder();

  test("as it is sent, to a decoder that learns", () => {
    fc.assert(
      fc.property(pushes, (bytes) => expect(agree(bytes, decoder)).toBe(true)),
      SEED,
    );
  });

  test("broken on its way", () => {
    let compared = 0;
    const property = fc.property(mutated(pushes), (bytes) => {
      if (agree(bytes, new LokiDecoder())) compared++;
    });
    fc.assert(property, SEED);
    expect(compared).toBeGreaterThan(SEED.numRuns / 2);
  });

  test("broken on its way, to a decoder that learns", () => {
    const learning = new LokiDecoder();
    fc.assert(
      fc.property(mutated(pushes), (bytes) => void agree(bytes, learning)),
      SEED,
    );
  });
});
