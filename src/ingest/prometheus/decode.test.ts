import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  bytesField,
  messageV1,
  messageV2,
  sampleMessage,
  type SentSeries,
  textField,
  varint,
} from "../../../test/support/prometheus/messages.ts";
import { REMOTE_WRITE } from "../../../test/support/prometheus/options.ts";
import { DbError } from "../../base/error.ts";
import { SERIES_DICTIONARY_BYTES_MAX } from "../../table/series-dictionary.ts";
import type { RemoteWriteOptions, RemoteWriteResult } from "./types.ts";
import { RemoteWriteV1Decoder } from "./write-v1.ts";
import { RemoteWriteV2Decoder } from "./write-v2.ts";

const OPTIONS: RemoteWriteOptions = { ...REMOTE_WRITE, acceptsTable: (name) => /^[a-zA-Z_:-][a-zA-Z0-9_:\-.@#]*$/.test(name) };
const SEED = { seed: 20_261_121, numRuns: 200 };

/** A row as text: place, metric, labels, time, bits of the value. */
function rowsOf({ batches }: RemoteWriteResult): string[] {
  return batches.flatMap(({ database = "", physicalTable, batch }) =>
    batch.tables.flatMap(({ table, tablesOfKeys, rowCount, keys, times, fields }) => {
      const vector = fields[0]?.vector;
      if (vector?.kind !== "number") throw new Error("a number vector");
      const bits = new BigUint64Array(vector.values.buffer);
      return Array.from({ length: rowCount }, (_, row) => {
        const tags = batch.dictionary.tagsOf(keys[row] as number);
        const labels = tags.names.map((name, i) => `${name}=${tags.values[i]}`).join(",");
        const place = tablesOfKeys === true ? `${database}/${physicalTable}` : `${database}/!${table}`;
        return `${place} ${tags.table}{${labels}} ${times.base + BigInt(times.offsets[row] as number)} ${bits[row]}`;
      });
    }),
  );
}

function bitsOf(value: number): bigint {
  return new BigUint64Array(new Float64Array([value]).buffer)[0] as bigint;
}

const DECODERS = [
  ["version 1", messageV1, (options: RemoteWriteOptions) => new RemoteWriteV1Decoder(options)],
  ["version 2", messageV2, (options: RemoteWriteOptions) => new RemoteWriteV2Decoder(options)],
] as const;

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof DbError) return error.message;
    throw error;
  }
  return "";
}

function one(labels: Readonly<Record<string, string>>, value = 1, time = 1_700_000_000_000): SentSeries {
  return { labels, samples: [{ time, value }] };
}

for (const [name, encode, create] of DECODERS) {
  const check = (series: readonly SentSeries[], want: readonly string[], changes: Partial<RemoteWriteOptions> = {}): void => {
    const decoder = create({ ...OPTIONS, ...changes });
    for (let round = 0; round < 2; round++) expect(rowsOf(decoder.decode(encode(series)))).toEqual([...want]);
  };
  const checkRefused = (series: readonly SentSeries[], want: RegExp): void => {
    expect(refusal(() => create(OPTIONS).decode(encode(series)))).toMatch(want);
  };

  describe(name, () => {
    test("series become rows of their metric, in the order of the request", () => {
      const labels = { __name__: "up", job: "a", instance: "b" };
      check(
        [
          {
            labels,
            samples: [
              { time: 1000, value: 2 },
              { time: 1_700_000_000_000, value: 0 },
            ],
          },
          one({ __name__: "down" }, -1, 0),
        ],
        [
          `/physical up{job=a,instance=b} 1000 ${bitsOf(2)}`,
          `/physical up{job=a,instance=b} 1700000000000 0`,
          `/physical down{} 0 ${bitsOf(-1)}`,
        ],
      );
    });

    test("an empty request has no rows, nor has a series without samples", () => {
      check([], []);
      check([{ labels: { __name__: "up" }, samples: [] }], []);
    });

    test("labels without a value are as if they were absent", () => {
      check([one({ __name__: "up", job: "" }, 1, 1)], [`/physical up{} 1 ${bitsOf(1)}`]);
    });

    test("places are taken from labels", () => {
      check(
        [
          one({ __name__: "a", __database__: "d", __physical_table__: "p" }, 1, 1),
          one({ __name__: "b", x_greptime_database: "d", x: "y" }, 1, 2),
          one({ __name__: "c", __schema__: "s", __database__: "d" }, 1, 3),
          one({ __name__: "d", x_greptime_physical_table: "physical" }, 1, 4),
        ],
        [`/physical d{} 4 ${bitsOf(1)}`, `d/p a{} 1 ${bitsOf(1)}`, `d/physical b{x=y} 2 ${bitsOf(1)}`, `s/physical c{} 3 ${bitsOf(1)}`],
      );
    });

    test("without the metric engine every metric is a write of its own", () => {
      check(
        [one({ __name__: "a", x: "1" }, 1, 1), one({ __name__: "b" }, 1, 2), one({ __name__: "a", x: "2" }, 1, 3)],
        [`/!a a{x=1} 1 ${bitsOf(1)}`, `/!a a{x=2} 3 ${bitsOf(1)}`, `/!b b{} 2 ${bitsOf(1)}`],
        { metricEngine: false },
      );
    });

    test("refuses bad names", () => {
      checkRefused([one({ job: "a" })], /no metric name/);
      checkRefused([one({ __name__: "" })], /no metric name/);
      checkRefused([one({ __name__: "a b" })], /Invalid table name: a b/);
      checkRefused([one({ __name__: "a", "b\tc": "1" })], /Invalid label name: `b c`/);
      checkRefused([one({ __name__: "a", "": "1" })], /Invalid label name: ``/);
      checkRefused([one({ __name__: "a", b: "x".repeat(70_000) })], /labels of a series take \d+ bytes; at most 65535/);
      checkRefused([one({ __name__: "a", ["b".repeat(2000)]: "x" })], /Invalid label name: `b+…`: it has more than 1024 bytes/);
      checkRefused([one({ __name__: "a", greptime_value: "1" })], /has the name of a column/);
      checkRefused([one({ __name__: "a", __physical_table__: "b c" })], /Invalid table name: b c/);
    });

    test("bodies that are cut are refused, and the decoder still works", () => {
      const decoder = create(OPTIONS);
      const body = encode([one({ __name__: "up", job: "a" }), one({ __name__: "up", job: "b" })]);
      for (let length = 1; length < body.length; length++) {
        const refused = refusal(() => decoder.decode(body.subarray(0, length)));
        if (refused !== "") expect(refused).toMatch(/^(?:Failed to decode|Invalid) prometheus remote request/);
      }
      expect(decoder.decode(body).rowCount).toBe(2);
    });

    test("any bytes are decoded or refused", () => {
      const decoder = create(OPTIONS);
      const body = encode([one({ __name__: "up", job: "a" }), one({ __name__: "up", job: "b", zone: "c" }, 3)]);
      fc.assert(
        fc.property(fc.array(fc.tuple(fc.nat(body.length - 1), fc.nat(255)), { maxLength: 6 }), (changes) => {
          const bytes = body.slice();
          for (const [at, byte] of changes) bytes[at] = byte;
          refusal(() => decoder.decode(bytes));
        }),
        { ...SEED, numRuns: 2000 },
      );
    });

    test("random requests decode to what was sent, by a decoder that learns", () => {
      const decoder = create(OPTIONS);
      const label = fc.tuple(fc.constantFrom("job", "zone", "path", "le"), fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }));
      const sample = fc.record({
        time: fc.oneof(fc.nat(2 ** 31 - 1), fc.integer({ min: 1_600_000_000_000, max: 1_800_000_000_000 }), fc.constant(2 ** 52 - 1)),
        value: fc.double({ noNaN: true }),
      });
      const series = fc.record({
        metric: fc.constantFrom("up", "down", "a:b"),
        labels: fc.uniqueArray(label, { selector: ([key]) => key, maxLength: 4 }),
        samples: fc.array(sample, { maxLength: 4 }),
      });
      fc.assert(
        fc.property(fc.array(series, { maxLength: 8 }), (list) => {
          const sent = list.map(({ metric, labels, samples }) => ({
            labels: { __name__: metric, ...Object.fromEntries(labels) },
            samples,
          }));
          const want = list.flatMap(({ metric, labels, samples }) => {
            const text = labels.map(([key, value]) => `${key}=${value}`).join(",");
            return samples.map(({ time, value }) => `/physical ${metric}{${text}} ${time} ${bitsOf(value)}`);
          });
          expect(rowsOf(decoder.decode(encode(sent)))).toEqual(want);
        }),
        SEED,
      );
    });

    test("a decoder that is full forgets between two requests", () => {
      const decoder = create(OPTIONS);
      const before = decoder.memoryBytes;
      decoder.decode(encode([one({ __name__: "up", job: "a".repeat(1000) })]));
      expect(decoder.memoryBytes).toBeGreaterThanOrEqual(before);
      expect(before).toBeLessThan(SERIES_DICTIONARY_BYTES_MAX);
    });
  });
}

describe("version 1, byte by byte", () => {
  const labels = [
    ...bytesField(1, [...textField(1, "__name__"), ...textField(2, "up")]),
    ...bytesField(1, [...textField(1, "a"), ...textField(2, "b")]),
  ];
  const decode = (series: readonly number[], changes: Partial<RemoteWriteOptions> = {}): string[] => {
    return rowsOf(new RemoteWriteV1Decoder({ ...OPTIONS, ...changes }).decode(Uint8Array.from(bytesField(1, series))));
  };
  const row = `/physical up{a=b} 5 ${bitsOf(1.5)}`;

  test("fields in any order, and fields of the future", () => {
    const sample = bytesField(2, sampleMessage(5, 1.5));
    const first = labels.slice(0, 16);
    expect(decode([...labels, ...sample])).toEqual([row]);
    expect(decode([...sample, ...labels])).toEqual([row]);
    expect(decode([...labels, ...bytesField(9, [1, 2]), ...sample])).toEqual([row]);
    expect(decode([...bytesField(3, []), ...labels, ...sample])).toEqual([row]);
    expect(decode([...first, ...sample, ...labels.slice(first.length)])).toEqual([row]);
    expect(decode([...labels, ...bytesField(2, [0x10, 5, ...sampleMessage(5, 1.5).slice(0, 9)])])).toEqual([row]);
  });

  test("a value or a time that is not there is zero", () => {
    expect(decode([...labels, ...bytesField(2, [])])).toEqual(["/physical up{a=b} 0 0"]);
    expect(decode([...labels, ...bytesField(2, [0x10, ...varint(1_700_000_000_000)])])).toEqual(["/physical up{a=b} 1700000000000 0"]);
  });

  test("every bit of a value stays, also of the marker of staleness", () => {
    const stale = [0x02, 0, 0, 0, 0, 0, 0xf0, 0x7f];
    for (const time of [
      [0x10, 5],
      [0x10, ...varint(1_700_000_000_000)],
    ]) {
      const [got = ""] = decode([...labels, ...bytesField(2, [0x09, ...stale, ...time])]);
      expect(got.split(" ").at(-1)).toBe(String(0x7ff0000000000002n));
    }
  });

  test("a time before 1970 is kept, one that no table can hold is refused", () => {
    const minusOne = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    expect(decode([...labels, ...bytesField(2, [0x10, ...minusOne])])).toEqual(["/physical up{a=b} -1 0"]);
    const year292Million = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    expect(refusal(() => decode([...labels, ...bytesField(2, [0x10, ...year292Million])]))).toMatch(/9223372036854775807 is more than/);
  });

  test("a label twice, and a native histogram, are refused", () => {
    expect(refusal(() => decode([...labels, ...labels, ...bytesField(2, [])]))).toMatch(/occurs twice/);
    expect(refusal(() => decode([...labels, ...bytesField(4, [])]))).toMatch(
      /native histogram ingestion is unsupported; use remote write v2/,
    );
  });

  test("texts that are not UTF-8 are refused or replaced", () => {
    const bad = [
      ...bytesField(1, [...textField(1, "__name__"), ...textField(2, "up")]),
      ...bytesField(1, [...textField(1, "a"), 0x12, 1, 0xff]),
    ];
    const series = [...bad, ...bytesField(2, [0x10, 5])];
    expect(refusal(() => decode(series))).toMatch(/not UTF-8/);
    expect(decode(series, { validation: "lossy" })).toEqual(["/physical up{a=\ufffd} 5 0"]);
    expect(decode(series, { validation: "unchecked" })).toEqual(["/physical up{a=\ufffd} 5 0"]);
  });

  test("series by the thousand with their rows", () => {
    const many = Array.from({ length: 5000 }, (_, n) => one({ __name__: "up", n: String(n) }, n, 1_700_000_000_000 + n));
    const decoder = new RemoteWriteV1Decoder(OPTIONS);
    const body = messageV1(many);
    const first = rowsOf(decoder.decode(body));
    expect(first.length).toBe(5000);
    expect(rowsOf(decoder.decode(body))).toEqual(first);
  });
});

describe("version 2, byte by byte", () => {
  const symbols = ["", "__name__", "up", "seconds", "x"].flatMap((text) => textField(4, text));
  const sample = bytesField(2, sampleMessage(5, 1));
  const decode = (series: readonly number[], before: readonly number[] = symbols): RemoteWriteResult => {
    return new RemoteWriteV2Decoder(OPTIONS).decode(Uint8Array.from([...before, ...bytesField(5, series)]));
  };

  test("references packed, one by one, behind the samples; symbols last", () => {
    const want = [`/physical up{} 5 ${bitsOf(1)}`];
    expect(rowsOf(decode([...bytesField(1, [1, 2]), ...sample]))).toEqual(want);
    expect(rowsOf(decode([0x08, 1, 0x08, 2, ...sample]))).toEqual(want);
    expect(rowsOf(decode([...sample, ...bytesField(1, [1, 2])]))).toEqual(want);
    expect(rowsOf(decode([...bytesField(1, [1]), ...sample, ...bytesField(1, [2])]))).toEqual(want);
    const series = bytesField(5, [...bytesField(1, [1, 2]), ...sample]);
    expect(rowsOf(new RemoteWriteV2Decoder(OPTIONS).decode(Uint8Array.from([...series, ...symbols])))).toEqual(want);
  });

  test("broken references and symbols are refused", () => {
    expect(refusal(() => decode([...bytesField(1, [1]), ...sample]))).toMatch(/pairs; got 1/);
    expect(refusal(() => decode([...bytesField(1, [1, 9]), ...sample]))).toMatch(/symbol 9 where there are 5/);
    expect(refusal(() => decode([...bytesField(1, [1, 2, 1, 2]), ...sample]))).toMatch(/occurs twice/);
    expect(refusal(() => decode(sample, textField(4, "a")))).toMatch(/first symbol must be the empty text/);
    expect(refusal(() => decode(sample, []))).toMatch(/first symbol must be the empty text/);
    expect(refusal(() => decode([...bytesField(1, [1, 2]), ...bytesField(3, [])]))).toMatch(/native histograms are not enabled/);
  });

  test("what is declared goes with the metric until its table is made", () => {
    const metadata = bytesField(5, [0x08, 1, 0x20, 3]);
    const series = [...bytesField(1, [1, 2]), ...sample, ...metadata];
    const body = Uint8Array.from([...symbols, ...bytesField(5, series)]);
    const decoder = new RemoteWriteV2Decoder(OPTIONS);
    const declared = {
      "greptime.semantic.metric.metadata_quality": "declared",
      "greptime.semantic.metric.type": "counter",
      "greptime.semantic.metric.unit": "s",
    };
    expect(decoder.decode(body).batches.map((batch) => batch.declared)).toEqual([declared]);
    expect(decoder.decode(body).batches.map((batch) => batch.declared)).toEqual([declared]);
    decoder.settle();
    expect(decoder.decode(body).batches.map((batch) => batch.declared)).toEqual([{}]);
    const another = [...bytesField(1, [1, 2, 4, 4]), ...sample, ...metadata];
    const late = decoder.decode(Uint8Array.from([...symbols, ...bytesField(5, another)]));
    expect(late.batches.map((batch) => batch.declared)).toEqual([{}]); // Its table was made.
  });

  test("series that contradict each other make it mixed; other metrics are left out of it", () => {
    const gauge = bytesField(5, [0x08, 2]);
    const counter = bytesField(5, [0x08, 1]);
    const body = [
      ...symbols,
      ...bytesField(5, [...bytesField(1, [1, 2]), ...sample, ...gauge]),
      ...bytesField(5, [...bytesField(1, [1, 2, 4, 4]), ...sample, ...counter]),
      ...bytesField(5, [...bytesField(1, [1, 4]), ...sample]),
    ];
    const { batches } = new RemoteWriteV2Decoder(OPTIONS).decode(Uint8Array.from(body));
    expect(batches.map(({ rowCount, declared }) => [rowCount, declared["greptime.semantic.metric.type"]])).toEqual([
      [2, "mixed"],
      [1, undefined],
    ]);
  });
});
