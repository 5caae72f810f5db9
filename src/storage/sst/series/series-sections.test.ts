import { tableId } from "../../../base/units.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { textAt, textTableOf } from "../../../column/text-table.ts";
import { PageCache } from "../../cache/page-cache.ts";
import { memoryFileStore } from "../../file-store/memory-file-store.ts";
import { LABELS_COLUMN_ID } from "../../series/label-set.ts";
import { TABLE_ID_COLUMN_ID } from "../../../table/metric.ts";
import { SeriesRegistry } from "../../series/series-registry.ts";
import type { DataFile } from "../data-file.ts";
import { readTableRuns, type SeriesNumbers } from "../read/file-contents.ts";
import type { SeriesIndex } from "./series-index.ts";
import { decodeSection, decodeSections, encodeSections, isSectioned, pickRuns, startOfRun } from "./series-sections.ts";
import { SstFile } from "../read/sst-file.ts";

/** Runs of tables, each of one to three rows, whose label sets are `l0`, `l1` … or, now and then, none. */
function indexOf(tables: readonly number[]): SeriesIndex {
  const ids = [...new Set(tables)].map(String);
  const sets = tables.map((_, run) => (run % 5 === 4 ? undefined : `l${run % 7}`));
  const labels = [...new Set(sets)].filter((text) => text !== undefined);
  let end = 0;
  return {
    columnIds: [TABLE_ID_COLUMN_ID, LABELS_COLUMN_ID],
    dictionaries: [textTableOf([undefined, ...ids]), textTableOf([undefined, ...labels])],
    codes: [
      Uint32Array.from(tables, (table) => ids.indexOf(String(table)) + 1),
      Uint32Array.from(sets, (text) => (text === undefined ? 0 : labels.indexOf(text) + 1)),
    ],
    ends: Uint32Array.from(tables, (_, run) => (end += 1 + (run % 3))),
    timeBase: 1000n,
    firstTimes: Float64Array.from(tables, (_, run) => run),
    lastTimes: Float64Array.from(tables, (_, run) => run + 10),
  };
}

interface Written {
  readonly directory: Uint8Array;
  readonly bytes: Uint8Array;
}

function written(index: SeriesIndex): Written {
  const pieces: Uint8Array[] = [new Uint8Array(100)];
  let length = 100;
  const directory = encodeSections(index, (bytes) => {
    pieces.push(bytes);
    length += bytes.length;
    return length - bytes.length;
  });
  return { directory, bytes: new Uint8Array(Buffer.concat(pieces)) };
}

/** Runs as text: table, labels, first row, end, times. */
function linesOf(index: SeriesIndex, from = 0, to: number = index.ends.length): string[] {
  const lines: string[] = [];
  for (let run = from; run < to; run++) {
    const tags = index.codes.map((codes, c) => textAt(index.dictionaries[c]!, codes[run]!) ?? "-");
    lines.push([...tags, startOfRun(index, run), index.ends[run], index.firstTimes[run], index.lastTimes[run]].join(" "));
  }
  return lines;
}

/** Reads one table's runs. What a registry would be told of them is put into `tags`. */
async function readTable({ directory, bytes }: Written, table: number, tags: string[]): Promise<string[]> {
  const numbers: SeriesNumbers = {
    expect: () => undefined,
    ofRows({ dictionaries, codes }, runCount, first) {
      for (let run = 0; run < runCount; run++) tags.push(codes.map((own, c) => textAt(dictionaries[c]!, own[run]!) ?? "-").join(" "));
      return Uint32Array.from({ length: runCount }, (_, run) => first + run);
    },
    ofTombstones: () => new Uint32Array(0),
  };
  const reader = {
    byteLength: bytes.length,
    read: (offset: number, length: number) => bytes.subarray(offset, offset + length),
    close: () => undefined,
  };
  const runs = await readTableRuns(decodeSections(directory), reader, tableId(table), numbers);
  if (runs === undefined) return [];
  const { index, series } = runs;
  expect([...series]).toEqual([...series.keys()]);
  return Array.from(index.ends, (end, run) => [startOfRun(index, run), end, index.firstTimes[run], index.lastTimes[run]].join(" "));
}

describe("the sections of a series index", () => {
  test("hold its runs, whatever tables end in them", async () => {
    const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(5000)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(lengths, async (counts) => {
        const tables = counts.flatMap((count, t) => new Array<number>(count).fill(1000 + 2 * t));
        const index = indexOf(tables);
        const file = written(index);
        const lines = linesOf(index);
        for (const table of [999, 1000, 1001, 1000 + 2 * (counts.length - 1), 1000 + 2 * counts.length]) {
          const tags: string[] = [];
          const own = lines.filter((line) => line.startsWith(`${table} `));
          const rows = await readTable(file, table, tags);
          expect(tags.map((text, run) => `${text} ${rows[run]}`)).toEqual(own);
        }
      }),
      { seed: 5, numRuns: 12 },
    );
  });

  test("hold only the texts of their runs", () => {
    const picked = pickRuns(indexOf([1, 1, 1, 2, 3]), 3, 4);
    expect(linesOf(picked)).toEqual(["2 l3 0 1 3 13"]);
    expect(picked.dictionaries.map(({ size }) => size)).toEqual([2, 2]);
  });

  test("are for shared regions with rows alone", () => {
    const index = indexOf([1]);
    expect(isSectioned(index)).toBe(true);
    expect(isSectioned(indexOf([]))).toBe(false);
    expect(isSectioned({ ...index, columnIds: [1, LABELS_COLUMN_ID] })).toBe(false);
    expect(isSectioned({ ...index, columnIds: [TABLE_ID_COLUMN_ID] })).toBe(false);
  });
});

describe("broken sections are refused:", () => {
  const file = written(indexOf([1, 1, 2]));

  test("a directory of another version, or cut short", () => {
    const other = file.directory.slice();
    other[0] = 2;
    expect(() => decodeSections(other)).toThrow("series sections have version 2, which this server does not know");
    for (let length = 0; length < file.directory.length; length++) {
      expect(() => decodeSections(file.directory.subarray(0, length))).toThrow();
    }
  });

  test("a section that is damaged, or another's", () => {
    const [section] = decodeSections(file.directory);
    const bytes = file.bytes.subarray(section!.offset, section!.offset + section!.length);
    expect(decodeSection(section!, bytes).ends).toEqual(Uint32Array.of(1, 3, 6));
    const damaged = bytes.slice();
    damaged[9]! ^= 1;
    expect(() => decodeSection(section!, damaged)).toThrow("the series section at byte 100 does not match its checksum");
    expect(() => decodeSection({ ...section!, runCount: 2 }, bytes)).toThrow("has 3 runs of 6 rows");
    expect(() => decodeSection({ ...section!, rowCount: 7 }, bytes)).toThrow("has 3 runs of 6 rows");
  });
});

/** A file of a shared region from before there were sections: tables 1025 and 1026, 60 rows of ten and five label sets. */
const OLD: string = [
  "UEFSMRUGFbICFfoBFfqzoY0KTBV4FQAVeBUKFQAVABEAACi1L/0gmaUDAEQGgAEEPICgq/75Yq/bBhERAAAITIE4ITAF9IHAFIgTAlNAH+IEAlPYWQhMIU4gMIUsg9",
  "4PnyR6P4gT+CTR++GTBPSBAADo/fBJovcD9IFPEr0fPkmIE4O7gJg6AAAAAAAAAAAAAAUAIGOrhhHUAICJyJhkFQYVxAcV1gEV/O7kugNMFXgVABV4FRIVBBUAEQAA",
  "eAEotS/9YOAA/QIAdAQAAIAAAACAgD4uRhhCNUkoRTtMMkgIQDhLIkMkNERJFDlBSzA6R0zwJj9EADZAShwxQkcgPENNKjdFShAsQUYzPUhNAEA/QAkAwMaNE2FFAj",
  "CABT8RqLS6S5iKCtoVBhUiFSIVgef0yQJMFXgVABV4FQoVBBUAEgAAeAGAAQQ8ghAAAQAAAAAACAAVBBU8FU4VqIPI5Ak8FQoVAAAAKLUv/SAe8QAAAgAAAGowAgAA",
  "AGoxAgAAAGoyAgAAAGozAgAAAGo0FQYVOBU4Fa3kkpwFTBV4FQAVeBUQFQQVABIAAHgBAxEAkCSStG0kCQAAkCRJIkmStG3bRpIkCQAVBBUMFR4Vt6n5qgk8FQIVAA",
  "AAKLUv/SAGMQAAAgAAAGV1FQYVFhUWFY2Ql/cHTBV4FTwVeBUQFRIVABIAABHMzAwPDw8PDwAJFUAcHAAAHBwAABwcAAAACABAHDAAAMEBAAsBgEgDACkAQQCwAAIC",
  "QwAQIEIgAAgVQBwcAAAcHAAAHBwAAAAAAgAAAAAAAQAAEAAAAAAEQAAAAAAQAAAAAABAAAEAAEECAAAotS/9YEEBNQkAQo40OFCPWgOUy5c8+99LCYEMIoPIIGpo+M",
  "L/fXuHIke7YyAD224rZW1syfpGhlPHYMO1rpHGbje5pUwBYCiuSEwcqXAVodCSsihhugnVCQpG2qgqRqMTRmdS8kCpJICYXg5CCCA2lwGKlc+F2OngSjwZKQIvkci2",
  "ERoxYAChFIAeFk7iB0Ox8w5/w+/99V/4u//0k36EXwT6P//2c37Nn/m1n/5TE5AB0DA0m9LzWKx7rdV4ffdzcSrsu19L28TGUU7putXS1q2WZrFxfL78eAj9z/0zNS",
  "DQa9YDDzzwwAYeeOCBBzbwwAMPPLCBBx544IENPPDAzEaTxcADD8zMaKONNtpoRhutRhuZWX66JNTMpLsHG4TfgXEZjrM6xMkodHxhKQwZAAAAAACom0AZEQIZGAgA",
  "aOXPiwEAABkYCHhO5s+LAQAAFQAZFgAAGRECGRgIAAAAAAAAAIAZGAgAAAAAAIBNQBUAGRYAABkRAhkYBAEEAAAZGAQCBAAAFQAZFgAAGRECGRgCajAZGAJqNBUAGR",
  "YAABkRAhkYAmV1GRgCZXUVABkWPAAZHBYIFbYCFgAAABkcFr4CFZICFgAAABkcFtAEFVoWAAAAGRwWngYVcBYAAAAZHBbSBxVOFgAAABUEGWxIBnNjaGVtYRUKABUE",
  "JQAYEmdyZXB0aW1lX3RpbWVzdGFtcCUSTIwRHBwAAAAAABUKJQIYDmdyZXB0aW1lX3ZhbHVlABUCJQIYCl9fdGFibGVfaWQlGkysEyASAAAAFQwlAhgDam9iJQBMHA",
  "AAABUMJQIYBHpvbmUlAEwcAAAAFngZHBlcJgAcFQQZJQYKGRgSZ3JlcHRpbWVfdGltZXN0YW1wFQwWeBbuAha2AiYIPDYAKAh4TubPiwEAABgIAGjlz4sBAAAREQAA",
  "FsoQFRYW1A4VPgAmABwVChklBhIZGA5ncmVwdGltZV92YWx1ZRUMFngWgAgWkgImvgI8NgAoCAAAAAAAgE1AGAgAAAAAAAAAgBERAAAW4BAVGBaSDxU+ACYAHBUCGS",
  "UGChkYCl9fdGFibGVfaWQVDBZ4FloWWibQBDw2ACgEAgQAABgEAQQAABERAAAW+BAVFhbQDxUuACYAHBUMGTUGABAZGANqb2IVDBZ4FtIBFuQBJp4GJqoFHDYAKAJq",
  "NBgCajAREQAmoAgVXgAWjhEVFhb+DxUmACYAHBUMGTUGABAZGAR6b25lFQwWeBaAARaSASbSByaOBxw2PCgCZXUYAmV1EREAJv4IFV4AFqQRFRYWpBAVJgAWmg4WeC",
  "YIFpgIFAAAGawYC3ZhcnZlLnRhYmxlGAQxMDI0ABgNdmFydmUuY29sdW1ucxhUeyJncmVwdGltZV90aW1lc3RhbXAiOjEsImdyZXB0aW1lX3ZhbHVlIjoyLCJfX3Rh",
  "YmxlX2lkIjoyMTQ3NDgzMzkyLCJqb2IiOjUsInpvbmUiOjZ9ABgOdmFydmUuc2VxdWVuY2UYATEAGBV2YXJ2ZS5wYXJxdWV0LnZlcnNpb24YATEAGBV2YXJ2ZS5wYX",
  "JxdWV0LmNvbHVtbnMY0QNbeyJuYW1lIjoiZ3JlcHRpbWVfdGltZXN0YW1wIiwidHlwZSI6eyJraW5kIjoidGltZXN0YW1wIiwidW5pdCI6Im1pbGxpc2Vjb25kIn0s",
  "Im51bGxhYmxlIjpmYWxzZSwicm9sZSI6InRpbWUifSx7Im5hbWUiOiJncmVwdGltZV92YWx1ZSIsInR5cGUiOnsia2luZCI6ImZsb2F0IiwiYml0cyI6NjR9LCJudW",
  "xsYWJsZSI6dHJ1ZSwicm9sZSI6ImZpZWxkIn0seyJuYW1lIjoiX190YWJsZV9pZCIsInR5cGUiOnsia2luZCI6ImludCIsImJpdHMiOjMyLCJzaWduZWQiOmZhbHNl",
  "fSwibnVsbGFibGUiOnRydWUsInJvbGUiOiJ0YWcifSx7Im5hbWUiOiJqb2IiLCJ0eXBlIjp7ImtpbmQiOiJzdHJpbmcifSwibnVsbGFibGUiOnRydWUsInJvbGUiOi",
  "J0YWciLCJibG9vbSI6dHJ1ZX0seyJuYW1lIjoiem9uZSIsInR5cGUiOnsia2luZCI6InN0cmluZyJ9LCJudWxsYWJsZSI6dHJ1ZSwicm9sZSI6InRhZyIsImJsb29t",
  "Ijp0cnVlfV0AGBR2YXJ2ZS5wYXJxdWV0LmJsb29tcxgUNDI1MzMyMjEwOTo3Njg1MDQ1MzkAGBd2YXJ2ZS5ibG9iLnNlcmllcy1pbmRleBgSNjIyOjMwODoxNjYxNj",
  "AwMDMyABgUdmFydmUuYmxvYi5wYWdlLXN1bXMYEDkzMDo4OjE0NDQ5ODczNzYAGBJ2YXJ2ZS5wYXJxdWV0LnRhaWwYDjkzMDoxMDQyMDg0MDMwABgWdmFydmUucGFy",
  "cXVldC5jaGVja3N1bRgIMzQ3Nzg1NWMAGAV2YXJ2ZRlcHAAAHAAAHAAAHAAAHAAAAG0FAABQQVIx",
].join("");

test("a file from before there were sections is opened whole", async () => {
  const bytes = new Uint8Array(Buffer.from(OLD, "base64"));
  const meta: DataFile = {
    id: 1,
    name: "tables/0000001024/0000000001.parquet",
    rowCount: 60,
    byteLength: bytes.length,
    minTime: 1_700_000_000_000n,
    maxTime: 1_700_000_059_000n,
    sequence: 1,
    schemaVersion: 2,
  };
  const registry = new SeriesRegistry("p");
  registry.setColumns([
    { id: TABLE_ID_COLUMN_ID, name: "__table_id" },
    { id: LABELS_COLUMN_ID, name: "__labels" },
  ]);
  const file = new SstFile(meta, memoryFileStore(new Map([[meta.name, bytes]])));
  const opened = await file.openIfHolds([], registry, new PageCache(1 << 20), tableId(1025));
  expect(opened?.tableId).toBeUndefined();
  expect(opened?.index.ends.at(-1)).toBe(60);
  expect(registry.dictionaryAt(0)).toEqual([undefined, "1025", "1026"]);
  await file.release();
});
