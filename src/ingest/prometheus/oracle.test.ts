/** The decoders written by hand beside @bufbuild/protobuf, over messages as clients send them and over broken ones. */
import { beforeAll, describe, expect, test } from "bun:test";
import { REMOTE_WRITE } from "../../../test/support/prometheus/options.ts";
import fc from "fast-check";
import { mutated } from "../../../test/support/mutations.ts";
import { canCompileProtos, type Codec, codecOf } from "../../../test/support/proto-schema.ts";
import { CHUNK_TIME_SPAN_MAX } from "../../base/limits.ts";
import { createRemoteWriteDecoder, type RemoteWriteVersion } from "./decode.ts";
import { labelledSeries } from "./label-set.ts";
import { decodeReadRequest, type ReadRequest } from "./read/read-request.ts";
import { type EncodedSeries, frameOf, type Label, SeriesWriter } from "./read/read-series.ts";
import type { RemoteWriteOptions, RemoteWriteResult } from "./types.ts";

const SEED = { seed: 20_261_121, numRuns: 700 };
const OPTIONS: RemoteWriteOptions = { ...REMOTE_WRITE, acceptsTable: (name) => /^[a-zA-Z_:-][a-zA-Z0-9_:\-.@#]*$/.test(name) };

interface Sample {
  readonly value: number;
  readonly timestamp: bigint;
}

interface Unknown {
  readonly $unknown?: readonly unknown[];
}

interface V1 {
  readonly timeseries: readonly (Unknown & {
    readonly labels: readonly { readonly name: string; readonly value: string }[];
    readonly samples: readonly Sample[];
    readonly histograms: readonly unknown[];
  })[];
}

interface V2 extends Unknown {
  readonly symbols: readonly string[];
  readonly timeseries: readonly (Unknown & {
    readonly labelsRefs: readonly number[];
    readonly samples: readonly Sample[];
    readonly histograms: readonly unknown[];
    readonly metadata?: { readonly unitRef: number };
  })[];
}

interface Query {
  readonly startTimestampMs: bigint;
  readonly endTimestampMs: bigint;
  readonly matchers: readonly { readonly type: number; readonly name: string; readonly value: string }[];
}

interface Read {
  readonly queries: readonly Query[];
  readonly acceptedResponseTypes: readonly number[];
}

/** buf takes 0.2 s, and much more on a machine where everything else runs, too. */
const COMPILE_MS_MAX = 60_000;

let v1: Codec<V1>;
let v2: Codec<V2>;
let read: Codec<Read>;
const canCompile = canCompileProtos();
if (!canCompile) process.stderr.write("prometheus/oracle.test.ts is skipped: buf cannot run here\n");
beforeAll(() => {
  if (!canCompile) return;
  v1 = codecOf("prometheus.WriteRequest", ["prometheus.TimeSeries.exemplars", "prometheus.WriteRequest.metadata"]);
  v2 = codecOf("io.prometheus.write.v2.Request", [
    "io.prometheus.write.v2.TimeSeries.exemplars",
    "io.prometheus.write.v2.Sample.start_timestamp",
    "io.prometheus.write.v2.Metadata.help_ref",
  ]);
  read = codecOf("prometheus.ReadRequest", ["prometheus.Query.hints"]);
}, COMPILE_MS_MAX);

/** Rows of a request, in the order of places and metrics; bits of a NaN are not the library's strength. */
function rowsOf({ batches }: RemoteWriteResult): string[] {
  const rows = batches.flatMap(({ database, physicalTable, batch }) =>
    batch.tables.flatMap(({ rowCount, keys, times, fields }) => {
      const vector = fields[0]?.vector;
      if (vector?.kind !== "number") throw new Error("a number vector");
      return Array.from({ length: rowCount }, (_, row) => {
        const { table, names, values } = batch.dictionary.tagsOf(keys[row] as number);
        const labels = names.map((name, i) => [name, values[i]] as const);
        return rowText(database, physicalTable, table, labels, times.offsets[row] as number, vector.values[row] as number);
      });
    }),
  );
  return rows.toSorted();
}

function rowText(...parts: readonly unknown[]): string {
  return JSON.stringify(
    parts.map((part) => (typeof part === "number" && !Number.isFinite(part) ? String(part) : Object.is(part, -0) ? "-0" : part)),
  );
}

/** Rows of series whose labels are texts. @throws DbError as the decoders do */
function naiveRows(
  series: readonly { labels: readonly (readonly [string, string])[]; samples: readonly Sample[]; hasHistograms: boolean }[],
): string[] {
  const rows: string[] = [];
  for (const { labels, samples, hasHistograms } of series) {
    const { tags, database, physicalTable } = labelledSeries(
      labels.map(([name]) => name),
      labels.map(([, value]) => value),
      OPTIONS,
    );
    if (hasHistograms) throw new Refused("histograms");
    const pairs = tags.names.map((name, i) => [name, tags.values[i]] as const);
    for (const { value, timestamp } of samples) {
      if (timestamp > BigInt(CHUNK_TIME_SPAN_MAX) || timestamp < -BigInt(CHUNK_TIME_SPAN_MAX)) throw new Refused("time");
      rows.push(rowText(database, physicalTable ?? OPTIONS.physicalTable, tags.table, pairs, Number(timestamp), value));
    }
  }
  return rows.toSorted();
}

class Refused extends Error {}

function naiveV1({ timeseries }: V1): string[] {
  const some = timeseries.filter(
    ({ labels, samples, histograms, $unknown }) => labels.length + samples.length + histograms.length > 0 || $unknown !== undefined,
  );
  return naiveRows(
    some.map(({ labels, samples, histograms }) => ({
      labels: labels.map(({ name, value }) => [name, value] as const),
      samples,
      hasHistograms: histograms.length > 0,
    })),
  );
}

function naiveV2({ symbols, timeseries, $unknown }: V2): string[] {
  if (symbols.length + timeseries.length === 0 && $unknown === undefined) return [];
  if (symbols[0] !== "") throw new Refused("the first symbol");
  const textOf = (ref: number): string => {
    const text = symbols[ref];
    if (text === undefined) throw new Refused("a reference");
    return text;
  };
  const some = timeseries.filter(
    ({ labelsRefs, samples, histograms, metadata, $unknown: more }) =>
      labelsRefs.length + samples.length + histograms.length > 0 || metadata !== undefined || more !== undefined,
  );
  const seen = new Set<string>();
  return naiveRows(
    some.map(({ labelsRefs, samples, histograms, metadata }) => {
      if (labelsRefs.length % 2 !== 0) throw new Refused("no pairs");
      const texts = labelsRefs.map(textOf);
      const id = JSON.stringify(texts);
      if (!seen.has(id)) textOf(metadata?.unitRef ?? 0);
      seen.add(id);
      const labels = Array.from({ length: texts.length / 2 }, (_, i) => [texts[2 * i] ?? "", texts[2 * i + 1] ?? ""] as const);
      return { labels, samples, hasHistograms: histograms.length > 0 };
    }),
  );
}

/** What a decoder makes of bytes: rows, or that it refuses them. */
function outcome<T>(work: () => T): { readonly made: T } | { readonly refused: string } {
  try {
    return { made: work() };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

/** Refusals of the hand's alone: it reads no number of more than 32 bits where no bigger one makes sense. */
const OWN_REFUSALS = /exceeds 32 bits/;

/** Both make the same of the bytes. @returns whether they were compared */
function agree<T, R>(codec: Codec<T>, bytes: Uint8Array, naive: (message: T) => R, hand: (bytes: Uint8Array) => R): boolean {
  const got = outcome(() => hand(bytes));
  const form = outcome(() => codec.isWellTyped(bytes));
  if ("made" in form && !form.made) return false; // The library reads fields of a foreign wire type as if they were known.
  if ("refused" in got && OWN_REFUSALS.test(got.refused)) return false;
  // The library lets the last field of an inner message reach beyond its end.
  const want = "refused" in form ? form : outcome(() => naive(codec.read(bytes)));
  if ("refused" in want && /utf-8/i.test(want.refused) && "made" in got) return false; // A symbol that nobody refers to is not read.
  if ("refused" in want) expect({ bytes, ...got }).toEqual({ bytes, refused: expect.any(String) });
  else expect(got).toEqual(want);
  return true;
}

const sample = fc.record({
  value: fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0)),
  timestamp: fc.oneof(
    fc.integer({ min: 1_600_000_000_000, max: 1_800_000_000_000 }),
    fc.integer(),
    fc.constant(2 ** 52),
    fc.constant(-(2 ** 52)),
  ),
});
const labelName = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom("job", "le", "zone", "instance") },
  { weight: 1, arbitrary: fc.constantFrom("__schema__", "x_greptime_physical_table", "a-b", "") },
);
const labelPairs = fc
  .tuple(
    fc.oneof({ weight: 15, arbitrary: fc.constantFrom("up", "down", "a:b") }, { weight: 1, arbitrary: fc.constantFrom("", "a b") }),
    fc.uniqueArray(fc.tuple(labelName, fc.string({ unit: "grapheme", maxLength: 8 })), { selector: ([name]) => name, maxLength: 3 }),
  )
  .map(([metric, others]) => [["__name__", metric] as const, ...others]);
const sent = fc.array(fc.tuple(labelPairs, fc.array(sample, { maxLength: 3 })), { maxLength: 4 });

function samplesJson(
  samples: readonly { readonly value: number; readonly timestamp: number }[],
): { value: number | string; timestamp: string }[] {
  return samples.map(({ value, timestamp }) => ({
    value: Number.isFinite(value) ? value : value > 0 ? "Infinity" : "-Infinity",
    timestamp: String(timestamp),
  }));
}

const v1Bytes = sent.map((list) =>
  v1.write({
    timeseries: list.map(([labels, samples]) => ({
      labels: labels.map(([name, value]) => ({ name, value })),
      samples: samplesJson(samples),
    })),
  }),
);
const v2Bytes = sent.map((list) => {
  const symbols = [...new Set(["", ...list.flatMap(([labels]) => labels.flat()), "seconds"])];
  return v2.write({
    symbols,
    timeseries: list.map(([labels, samples], i) => ({
      labelsRefs: labels.flat().map((text) => symbols.indexOf(text)),
      samples: samplesJson(samples),
      ...(i === 1 ? { metadata: { type: "METRIC_TYPE_COUNTER", unitRef: symbols.indexOf("seconds") } } : {}),
    })),
  });
});

describe.skipIf(!canCompile)("remote write", () => {
  /** A decoder that learns meets every message; a fresh one every broken one, since what is known is not checked again. */
  function check(version: RemoteWriteVersion, bytes: fc.Arbitrary<Uint8Array>, isFresh: boolean, comparedMin: number): void {
    const learning = createRemoteWriteDecoder(version, OPTIONS);
    let compared = 0;
    const property = fc.property(bytes, (message) => {
      const hand = (body: Uint8Array): string[] => rowsOf((isFresh ? createRemoteWriteDecoder(version, OPTIONS) : learning).decode(body));
      const isCompared = version === "1.0" ? agree(v1, message, naiveV1, hand) : agree(v2, message, naiveV2, hand);
      if (isCompared) compared++;
    });
    fc.assert(property, SEED);
    expect(compared).toBeGreaterThan(comparedMin);
  }

  test("1.0 as it is sent", () => check("1.0", v1Bytes, false, SEED.numRuns - 1));
  test("1.0 broken on its way", () => check("1.0", mutated(v1Bytes), true, SEED.numRuns / 2));
  test("1.0 broken, by a decoder that learns", () => check("1.0", mutated(v1Bytes), false, SEED.numRuns / 2));
  test("2.0 as it is sent", () => check("2.0", v2Bytes, false, SEED.numRuns - 1));
  test("2.0 broken on its way", () => check("2.0", mutated(v2Bytes), true, SEED.numRuns / 2));
});

describe.skipIf(!canCompile)("remote read", () => {
  const KINDS = ["=", "!=", "=~", "!~"] as const;
  const ANSWERS = ["samples", "chunks"] as const;
  const naive = ({ queries, acceptedResponseTypes }: Read): ReadRequest => ({
    queries: queries.map(({ startTimestampMs, endTimestampMs, matchers }) => ({
      start: startTimestampMs,
      end: endTimestampMs,
      matchers: matchers.map(({ type, name, value }) => {
        const kind = KINDS[type];
        if (kind === undefined) throw new Refused("a matcher");
        return { kind, name, value };
      }),
    })),
    accepted: acceptedResponseTypes.map((type) => ANSWERS[type] ?? "unknown"),
  });
  const time = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.constantFrom(0n, -1n, 1_700_000_000_000n)).map(String);
  const matcher = fc.record({ type: fc.constantFrom("EQ", "NEQ", "RE", "NRE"), name: labelName, value: fc.string({ maxLength: 6 }) });
  const query = fc.record({ startTimestampMs: time, endTimestampMs: time, matchers: fc.array(matcher, { maxLength: 3 }) });
  const bytes = fc
    .record({
      queries: fc.array(query, { maxLength: 3 }),
      acceptedResponseTypes: fc.array(fc.constantFrom("SAMPLES", "STREAMED_XOR_CHUNKS"), { maxLength: 2 }),
    })
    .map((json) => read.write(json));

  test("requests as they are sent", () => {
    fc.assert(
      fc.property(bytes, (message) => expect(agree(read, message, naive, decodeReadRequest)).toBe(true)),
      SEED,
    );
  });

  test("requests broken on their way", () => {
    let compared = 0;
    const property = fc.property(mutated(bytes), (message) => {
      if (agree(read, message, naive, decodeReadRequest)) compared++;
    });
    fc.assert(property, SEED);
    expect(compared).toBeGreaterThan(SEED.numRuns / 2);
  });

  const labels = fc.array(fc.tuple(labelName, fc.string({ unit: "grapheme", maxLength: 8 })), { maxLength: 4 });
  const series = fc.tuple(labels, fc.array(sample, { maxLength: 300 }));
  const written = (
    form: "samples" | "chunks",
    list: readonly Label[],
    samples: readonly { value: number; timestamp: number }[],
  ): EncodedSeries => {
    const writer = new SeriesWriter(form);
    const words = new Int32Array(2);
    writer.begin(list);
    for (const { value, timestamp } of samples) {
      new DataView(words.buffer).setFloat64(0, value, true);
      writer.sample(timestamp, words[0] as number, words[1] as number);
    }
    return writer.finish();
  };

  test("series of an answer are read by the library", () => {
    const codec = codecOf<{ labels: { name: string; value: string }[]; samples: Sample[] }>("prometheus.TimeSeries");
    fc.assert(
      fc.property(series, ([list, samples]) => {
        const message = codec.read(written("samples", list, samples).message);
        expect(message.labels.map(({ name, value }) => [name, value])).toEqual(list.map(([name, value]) => [name, value]));
        expect(message.samples.map(({ value, timestamp }) => [Number(timestamp), value])).toEqual(
          samples.map(({ value, timestamp }) => [timestamp, value]),
        );
      }),
      { ...SEED, numRuns: 200 },
    );
  });

  test("frames of an answer are read by the library", () => {
    type Frame = {
      readonly queryIndex: bigint;
      readonly chunkedSeries: readonly {
        labels: { name: string; value: string }[];
        chunks: { minTimeMs: bigint; maxTimeMs: bigint; type: number }[];
      }[];
    };
    const codec = codecOf<Frame>("prometheus.ChunkedReadResponse");
    fc.assert(
      fc.property(series, fc.nat(3), ([list, samples], index) => {
        const ordered = samples.toSorted((a, b) => a.timestamp - b.timestamp);
        const frame = frameOf(written("chunks", list, ordered), index);
        let at = 0;
        while ((frame[at] as number) >= 0x80) at++;
        const { queryIndex, chunkedSeries } = codec.read(frame.subarray(at + 5));
        expect(queryIndex).toBe(BigInt(index));
        expect(chunkedSeries[0]?.labels.map(({ name, value }) => [name, value])).toEqual(list.map(([name, value]) => [name, value]));
        const chunks = chunkedSeries[0]?.chunks ?? [];
        expect(chunks.map(({ type }) => type)).toEqual(Array(Math.ceil(samples.length / 120)).fill(1));
        expect(Number(chunks[0]?.minTimeMs ?? 0)).toBe(ordered[0]?.timestamp ?? 0);
        expect(Number(chunks.at(-1)?.maxTimeMs ?? 0)).toBe(ordered.at(-1)?.timestamp ?? 0);
      }),
      { ...SEED, numRuns: 200 },
    );
  });
});
