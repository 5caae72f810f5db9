/** COPY's forms: options, lines that are written and read back however they are cut, values read by loops beside the plain way. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FLOAT64, INT32, STRING, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar } from "../../../column/vector.ts";
import { castValue } from "../../../value/cast.ts";
import { Cells } from "../../wire/cells/cells.ts";
import { Outgoing } from "../../wire/outgoing.ts";
import { copyRowWriter } from "./copy-rows.ts";
import { type CopyForm, type CopyStatement, parseCopy } from "./copy-syntax.ts";
import { floatVector, stampVector, textVector, wholeVector } from "../../wire/intake/kernels/read-values.ts";
import { TagTexts } from "../../wire/intake/kernels/tag-texts.ts";
import type { ScannedRows } from "../../wire/intake/scanned-rows.ts";
import { Flaw, scanBinary, scanCsv, scanText } from "./kernels/scan-rows.ts";
import { tableParts } from "./table-name.ts";

const SEED = 20_261_123;

function parsed(text: string): CopyStatement {
  const statement = parseCopy(text);
  if (statement === undefined) throw new Error(`no COPY of a client: ${text}`);
  return statement;
}

describe("statements", () => {
  test("old and new options say the same", () => {
    const csv = parsed("COPY t FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';', NULL 'x', QUOTE '''', ESCAPE '\\')").form;
    expect(parsed("copy t from stdin csv header delimiter as ';' null as 'x' quote '''' escape '\\'").form).toEqual(csv);
    expect(csv).toMatchObject({ format: "csv", header: true, delimiter: ";", nullText: "x", quote: "'", escape: "\\" });
    expect(parsed("COPY BINARY t TO STDOUT").form.format).toBe("binary");
    expect(parsed("COPY t TO STDOUT (DELIMITER E'\\t')").form.delimiter).toBe("\t");
    expect(parsed("COPY t TO STDOUT CSV FORCE QUOTE *").form.forceQuote).toBe("*");
  });

  test("what is copied", () => {
    expect(parsed("COPY (SELECT ')' FROM t /* ) */) TO STDOUT")).toMatchObject({
      direction: "to",
      isQuery: true,
      source: "SELECT ')' FROM t /* ) */",
    });
    expect(parsed('COPY public."T x" (a, "B c") FROM STDIN')).toMatchObject({ source: 'public."T x"', columns: ["a", '"B c"'] });
    expect(tableParts('Public . "T ""x"""')).toEqual(["public", 'T "x"']);
    expect(parseCopy("COPY t TO 'file.csv'")).toBeUndefined();
    expect(parseCopy("COPY t TO 'stdin.csv'")).toBeUndefined();
  });

  test("options that make no sense are refused", () => {
    for (const text of [
      "COPY t FROM STDIN (FORMAT xml)",
      "COPY t FROM STDIN (NONSENSE 1)",
      "COPY t FROM STDIN (DELIMITER 'ab')",
      "COPY t FROM STDIN (DELIMITER 'a')",
      "COPY t FROM STDIN CSV DELIMITER ',' QUOTE ','",
      "COPY t FROM STDIN (FORMAT binary, HEADER)",
      "COPY t FROM STDIN (ENCODING 'LATIN1')",
      "COPY t FROM STDIN (ON_ERROR ignore)",
      "COPY t FROM STDIN WHERE a > 1",
      "COPY (SELECT 1) FROM STDIN",
      "COPY (SELECT 1 TO STDOUT",
      "COPY t FROM STDIN (NULL 'a,b', FORMAT csv)",
    ])
      expect(() => parseCopy(text)).toThrow();
  });
});

const TEXT: CopyForm = parsed("COPY t TO STDOUT").form;
const CSV: CopyForm = parsed("COPY t TO STDOUT CSV").form;

/** The lines of rows, as the server sends them. */
function written(rows: readonly (readonly (string | undefined)[])[], form: CopyForm): Uint8Array {
  const width = rows[0]?.length ?? 0;
  const columns = Array.from({ length: width }, (_, c) => {
    const cells = new Cells();
    cells.makeRows(rows.length);
    cells.begin(0);
    for (const [r, row] of rows.entries()) {
      const text = row[c];
      if (text === undefined) cells.setNull(r);
      else cells.setText(r, text);
    }
    return cells;
  });
  const sent: Uint8Array[] = [];
  const outgoing = new Outgoing({ write: (bytes, done) => [sent.push(bytes.slice()), done()] });
  const headers = columns.map((_, c) => ({ name: `c${c}`, type: STRING }));
  const write = copyRowWriter(form, headers, 100);
  for (let at = 0; at < rows.length; ) at = write(columns, at, rows.length, outgoing);
  outgoing.send();
  const all = Buffer.concat(sent);
  const lines: Uint8Array[] = [];
  for (let at = 0; at < all.length; ) {
    const length = all.readInt32BE(at + 1);
    lines.push(all.subarray(at + 5, at + 1 + length));
    at += 1 + length;
  }
  return Buffer.concat(lines);
}

const marksOf = ({ delimiter, quote, escape, nullText }: CopyForm) => ({
  delimiter: delimiter.charCodeAt(0),
  quote: quote.charCodeAt(0),
  escape: escape.charCodeAt(0),
  nullText: new TextEncoder().encode(nullText),
});

const rowsFor = (values: number): ScannedRows => ({
  starts: new Uint32Array(values),
  ends: new Uint32Array(values),
  rows: 0,
  next: 0,
  flaw: 0,
});

/** Rows read from bytes that come in two parts. */
function read(bytes: Uint8Array, cut: number, width: number, form: CopyForm): (string | undefined)[][] {
  const own = bytes.slice();
  const found = rowsFor(width * 1000);
  const rows: (string | undefined)[][] = [];
  const scan = form.format === "csv" ? scanCsv : scanText;
  let at = 0;
  for (const [to, isLast] of [
    [cut, false],
    [own.length, true],
  ] as const) {
    scan(own, at, to, width, 1000, marksOf(form), isLast, found);
    expect(found.flaw).toBe(Flaw.None);
    for (let row = 0; row < found.rows; row++) {
      rows.push(
        Array.from({ length: width }, (_, c) => {
          const [start, end] = [found.starts[row * width + c]!, found.ends[row * width + c]!];
          return end < start ? undefined : new TextDecoder().decode(own.subarray(start, end));
        }),
      );
    }
    at = found.next;
  }
  expect(at).toBe(own.length);
  return rows;
}

const cell = fc.option(
  fc
    .oneof(
      fc.string({ maxLength: 6 }),
      fc.string({ unit: fc.constantFrom("a", ",", '"', "\\", "\n", "\r", "\t", ".", "N", "'"), maxLength: 6 }),
    )
    .filter((text) => !text.includes("\0")),
  { nil: undefined },
);

describe("rows that are written and read back, cut anywhere", () => {
  for (const [name, form] of [
    ["text", TEXT],
    ["csv", CSV],
    ["csv with other marks", parsed("COPY t TO STDOUT CSV DELIMITER '|' QUOTE '''' ESCAPE '\\' NULL 'N'").form],
    ["text with another delimiter", parsed("COPY t TO STDOUT (DELIMITER ',')").form],
  ] as const) {
    test(name, () => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 3 }),
          fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 4 }),
          fc.nat(),
          (width, all, at) => {
            // One empty value alone is a line that text cannot tell from NULL of an empty text; CSV quotes it.
            const rows = all.map((row) => row.slice(0, width));
            const bytes = written(rows, form);
            expect(read(bytes, at % (bytes.length + 1), width, form)).toEqual(rows);
          },
        ),
        { seed: SEED, numRuns: 400 },
      );
    });
  }

  test("escapes of text", () => {
    const bytes = new TextEncoder().encode("\\x41\\102\\t\\\\\\.\\q\\N\n\\N\n");
    expect(read(bytes, 5, 1, TEXT)).toEqual([["AB\t\\.qN"], [undefined]]);
  });

  test("what is wrong with a row", () => {
    const flawOf = (text: string, width: number, form: CopyForm = TEXT): number => {
      const bytes = new TextEncoder().encode(text);
      const found = rowsFor(100);
      (form.format === "csv" ? scanCsv : scanText)(bytes, 0, bytes.length, width, 10, marksOf(form), true, found);
      return found.flaw;
    };
    expect(flawOf("a\tb\n", 1)).toBe(Flaw.TooMany);
    expect(flawOf("a\n", 2)).toBe(Flaw.TooFew);
    expect(flawOf("a\n\\.\nb\n", 1)).toBe(Flaw.EndMarker);
    expect(flawOf('a,"b\n', 2, CSV)).toBe(Flaw.OpenQuote);
    expect(flawOf("a,b,c\n", 2, CSV)).toBe(Flaw.TooMany);
  });

  test("binary that is cut waits, one that is wrong is told", () => {
    const row = Buffer.from([0, 2, 0, 0, 0, 1, 65, 255, 255, 255, 255]);
    const found = rowsFor(10);
    for (let length = 0; length < row.length; length++) {
      scanBinary(row, 0, length, 2, 5, found);
      expect([length, found.rows, found.flaw]).toEqual([length, 0, Flaw.None]);
    }
    scanBinary(row, 0, row.length, 2, 5, found);
    expect([found.rows, Array.from(found.starts.subarray(0, 2)), Array.from(found.ends.subarray(0, 2))]).toEqual([1, [6, 1], [7, 0]]);
    scanBinary(row, 0, row.length, 3, 5, found);
    expect(found.flaw).toBe(Flaw.Count);
    scanBinary(Buffer.from([255, 255]), 0, 2, 2, 5, found);
    expect(found.flaw).toBe(Flaw.EndMarker);
  });
});

describe("values read by loops are those of casts", () => {
  function column(texts: readonly string[]): { bytes: Uint8Array; rows: ScannedRows; width: 1; column: 0 } {
    const bytes = new TextEncoder().encode(texts.join("\n"));
    const rows = rowsFor(texts.length);
    let at = 0;
    for (const [i, text] of texts.entries()) {
      const length = new TextEncoder().encode(text).length;
      rows.starts[i] = at;
      rows.ends[i] = at + length;
      at += length + 1;
    }
    rows.rows = texts.length;
    return { bytes, rows, width: 1, column: 0 };
  }
  const cast = (text: string, type: typeof INT32): unknown => {
    try {
      return castValue(text, STRING, type, { timeZone: "UTC" });
    } catch {
      return "refused";
    }
  };
  const number = fc.oneof(
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.stringMatching(/^-?\d{0,18}\.?\d{0,18}$/),
    fc.constantFrom("", "-", ".", "1.", ".5", "+1", " 1", "1 ", "1e3", "0x1", "-0", "00012", "1.2.3", "2147483648", "-2147483648"),
  );

  test("whole numbers", () => {
    fc.assert(
      fc.property(number, (text) => {
        const vector = wholeVector(column([text]), -(2 ** 31), 2 ** 31 - 1);
        if (vector !== undefined) expect(scalarAt(vector, INT32, 0) as unknown).toBe(cast(text, INT32));
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });

  test("floats", () => {
    fc.assert(
      fc.property(number, (text) => {
        const vector = floatVector(column([text]), 64);
        if (vector !== undefined) expect(scalarAt(vector, FLOAT64, 0) as unknown).toBe(cast(text, FLOAT64));
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });

  test("timestamps", () => {
    const time = fc.oneof(
      fc
        .tuple(
          fc.integer({ min: 0, max: 9999 }),
          fc.integer({ min: 1, max: 12 }),
          fc.integer({ min: 1, max: 31 }),
          fc.integer({ min: 0, max: 86_399_999 }),
        )
        .map(([year, month, day, millis]) => {
          const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
          const fraction = String(millis % 1000).padStart(3, "0");
          const clock = `${two(millis / 3_600_000)}:${two((millis / 60_000) % 60)}:${two((millis / 1000) % 60)}.${fraction}`;
          return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)} ${clock}`;
        }),
      fc.constantFrom("2024-02-30 00:00:00", "2023-02-29 00:00:00", "2000-02-29 00:00:00", "1900-02-29 00:00:00", "2024-01-01 24:00:00"),
      fc.constantFrom("2024-01-01", "2024-01-01 00:00:00.", "2024-01-01 00:00:00.1234", "2024-01-01 00:00:00.1230", "2024-01-01 00:00:00Z"),
    );
    fc.assert(
      fc.property(fc.array(time, { minLength: 1, maxLength: 4 }), (texts) => {
        const vector = stampVector(column(texts), 1000);
        if (vector === undefined) return;
        for (const [i, text] of texts.entries())
          expect(scalarAt(vector, TIMESTAMP_MILLISECOND, i) as unknown).toBe(
            castValue(text, STRING, TIMESTAMP_MILLISECOND, { timeZone: "UTC" }),
          );
      }),
      { seed: SEED, numRuns: 1000 },
    );
    expect(stampVector(column(["2024-01-01 00:00:00.5"]), 1000)).toBeDefined();
  });

  test("texts, and tags by codes", () => {
    const tags = new TagTexts();
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: "grapheme", maxLength: 80 }).filter((text) => !text.includes("\n")),
          { minLength: 1 },
        ),
        (texts) => {
          const scanned = column(texts);
          const read = (vector: Parameters<typeof scalarAt>[0]): Scalar[] => texts.map((_, i) => scalarAt(vector, STRING, i));
          expect(read(textVector(scanned))).toEqual([...texts]);
          expect(read(tags.of(scanned))).toEqual([...texts]);
        },
      ),
      { seed: SEED },
    );
  });
});
