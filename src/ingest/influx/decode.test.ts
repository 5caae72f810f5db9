import { describe, expect, jest, test } from "bun:test";
import { lineOf, type Point, pointsOf, sorted } from "../../../test/support/influx/points.ts";
import { FIELD_TEXT_BYTES_MAX, ERROR_LINES_MAX, TABLE_COLUMNS_MAX } from "../../base/limits.ts";
import { INT32, INT64, STRING, TIMESTAMP_MILLISECOND } from "../../column/data-type.ts";
import type { FieldWrite } from "../../table/write-batch.ts";
import { type DecodeOptions, type DecodeResult, InfluxDecoder, type LineError } from "./decode.ts";

const OPTIONS: DecodeOptions = {
  database: "public",
  precision: "ns",
  defaultTimeNanos: 42n,
  schemas: { columnOf: () => undefined },
  timeColumn: "greptime_timestamp",
};

function decode(
  body: string | Uint8Array,
  options: Partial<DecodeOptions> = {},
  decoder: InfluxDecoder = new InfluxDecoder(),
): DecodeResult {
  return decoder.decode(typeof body === "string" ? new TextEncoder().encode(body) : body, { ...OPTIONS, ...options });
}

function row(table: string, tags: Record<string, string>, fields: Record<string, string>, time = 42n): Point {
  return { table, tags: sorted(tags), fields: sorted(fields), time };
}

/** Checks that a body gives these rows and no bad line. */
function check(body: string, want: readonly Point[], options: Partial<DecodeOptions> = {}): void {
  const result = decode(body, options);
  expect(result.errors).toEqual([]);
  expect(pointsOf(result.batch).map(lineOf)).toEqual(want.map(lineOf));
}

/** Checks that a one-line body is refused for this reason and leaves nothing behind. */
function checkBad(body: string | Uint8Array, reason: string, options: Partial<DecodeOptions> = {}): void {
  const result = decode(body, options);
  expect(result.errors.map((error) => error.reason)).toEqual([reason]);
  expect(result.batch.tables).toEqual([]);
  expect([result.rowCount, result.lineCount, result.errorCount]).toEqual([0, 1, 1]);
}

function fieldOf(result: DecodeResult, name: string, write = 0): FieldWrite | undefined {
  return result.batch.tables[write]?.fields.find((field) => field.name === name);
}

describe("lines", () => {
  test("give measurement, tags, fields of every type, and time", () => {
    check('cpu,host=a,region=west i=1i,u=2u,f=1.5,b=true,s="x y" 1000', [
      row("cpu", { host: "a", region: "west" }, { i: "int:1", u: "uint:2", f: "float:1.5", b: "boolean:true", s: "string:x y" }, 1000n),
    ]);
  });

  test("end with LF, CRLF or the end of the body", () => {
    check(
      "m v=1i 1\nm v=2i 2\r\nm v=3i 3",
      [1, 2, 3].map((n) => row("m", {}, { v: `int:${n}` }, BigInt(n))),
    );
    check(
      "m v=1i\r\nm v=2i\r",
      [1, 2].map((n) => row("m", {}, { v: `int:${n}` })),
    );
  });

  test("may have several spaces between their parts, and some behind them", () => {
    check("m   v=1i   7   \nm v=2i   \n  \tm v=3i", [
      row("m", {}, { v: "int:1" }, 7n),
      row("m", {}, { v: "int:2" }),
      row("m", {}, { v: "int:3" }),
    ]);
  });

  test("that are blank or comments do not count", () => {
    check("", []);
    check("\n\r\n  \n# m v=1i\n   # x\n#", []);
  });

  test("take the default time, truncated to the precision, when they have none", () => {
    const defaultTimeNanos = 1_700_000_123_456_789_012n;
    const times = (["ns", "us", "ms", "s", "m", "h"] as const).map((precision) => {
      return pointsOf(decode("m v=1i", { precision, defaultTimeNanos }).batch)[0]?.time;
    });
    expect(times).toEqual([
      defaultTimeNanos,
      1_700_000_123_456_789_000n,
      1_700_000_123_456_000_000n,
      1_700_000_123_000_000_000n,
      1_700_000_100_000_000_000n,
      1_699_999_200_000_000_000n,
    ]);
  });
});

describe("escapes", () => {
  test("in names and tag values cover comma, equals and space; other backslashes stay", () => {
    check("a\\,b\\ c,k\\=1\\,=v\\ \\=\\x f\\ \\=\\,\\y=1i", [row("a,b c", { "k=1,": "v =\\x" }, { "f =,\\y": "int:1" })]);
    check("two\\\\ words\\=,t=a\\\\\\ b v=1i", [row("two\\ words\\=", { t: "a\\\\ b" }, { v: "int:1" })]);
  });

  test("in text cover the quote, the backslash and \\n \\r \\t", () => {
    check('m s="a\\"b\\\\c\\nd\\te\\rf\\gh\\\\"', [row("m", {}, { s: 'string:a"b\\c\nd\te\rf\\gh\\' })]);
  });

  test("leave quotes in names and tag values alone", () => {
    check('"m",t="x" "v"=1i', [row('"m"', { t: '"x"' }, { '"v"': "int:1" })]);
  });
});

describe("text", () => {
  test("may go over line ends, which count for later line numbers", () => {
    const result = decode('m s="a\nb\r\nc" 1\nm s=x 2\nm s="\n" 3\nm s=y 4');
    expect(pointsOf(result.batch).map((point) => point.fields["s"])).toEqual(["string:a\nb\r\nc", "string:\n"]);
    expect(result.errors.map((error) => error.line)).toEqual([4, 7]);
  });

  test("keeps UTF-8 and is refused when it is not", () => {
    check('wéb,ü=\u{1f600} é="ß\u{1f600}"', [row("wéb", { ü: "\u{1f600}" }, { é: "string:ß\u{1f600}" })]);
    for (const tail of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]) {
      const body = Uint8Array.from([...new TextEncoder().encode('m s="a'), ...tail, 0x22]);
      expect(decode(body).errors[0]?.reason).toContain("is not UTF-8");
    }
  });

  test("longer than a few words is copied whole", () => {
    const long = "0123456789".repeat(1000);
    check(`m s="${long}",t="" 1\nm s="x",t="y" 2`, [
      row("m", {}, { s: `string:${long}`, t: "string:" }, 1n),
      row("m", {}, { s: "string:x", t: "string:y" }, 2n),
    ]);
  });

  test("that is not closed costs its own line only", () => {
    const result = decode('m v=1i 1\nm s="x 2\nm v=3i 3\n');
    expect(result.errors).toEqual([
      { line: 2, text: 'm s="x 2', reason: "A generic parsing error occurred: a string lacks its closing quote" },
    ]);
    expect(result.rowCount).toBe(2);
  });
});

describe("refused lines", () => {
  test("say what is wrong", () => {
    checkBad("m", "No fields were provided");
    checkBad("m,host=a", "No fields were provided");
    checkBad("m ", "No fields were provided");
    checkBad("m v=1x", "Unable to parse floating-point value '1x'");
    checkBad("m v=1e999", "Unable to parse floating-point value '1e999'");
    checkBad("m v=1.5i", "Unable to parse integer value '1.5i'");
    checkBad("m v=9223372036854775808i", "Unable to parse integer value '9223372036854775808i'");
    checkBad("m v=-1u", "Unable to parse unsigned integer value '-1u'");
    checkBad("m v=18446744073709551616u", "Unable to parse unsigned integer value '18446744073709551616u'");
    checkBad("m v=1 12a", "Unable to parse timestamp value '12a'");
    checkBad("m v=1 9223372036854775808", "Unable to parse timestamp value '9223372036854775808': beyond 64-bit nanoseconds");
    checkBad("m v=1 12 13", "Could not parse entire line. Found trailing content: '13'");
    checkBad('m v="a"b 1', "Could not parse entire line. Found trailing content: 'b 1'");
    checkBad("m v=tru", "A generic parsing error occurred: want a number, a boolean or a quoted string, got 'tru'");
    checkBad("m v=", "A generic parsing error occurred: want field=value with neither side empty, got 'v='");
    checkBad("m,a=1,a=2 v=1", "A generic parsing error occurred: tag key 'a' appears twice");
    checkBad("m,a= v=1", "A generic parsing error occurred: want tag=value with neither side empty, got 'a='");
    checkBad("m,a\u0001=b v=1", "A generic parsing error occurred: control character 0x01 in a name or tag value");
    checkBad(",a=b v=1", "A generic parsing error occurred: the measurement is empty");
    checkBad(`m ${"n".repeat(1025)}=1`, "a name is longer than 1024 bytes");
    checkBad(`m,t=${"v".repeat(65_535)} f=1`, "measurement and tags are longer than 65535 bytes");
  });

  test("leave the good lines around them, and no column or table of their own", () => {
    const result = decode("m a=1i 1\nm a=2i,b=3i,c=x 2\nother d=1,e=! 3\nm a=4i 4\n");
    expect(pointsOf(result.batch).map(lineOf)).toEqual([row("m", {}, { a: "int:1" }, 1n), row("m", {}, { a: "int:4" }, 4n)].map(lineOf));
    expect(result.batch.tables.map((write) => [write.table, write.fields.map((field) => field.name)])).toEqual([["m", ["a"]]]);
    expect(fieldOf(result, "a")?.vector).not.toHaveProperty("validity", expect.anything());
    expect([result.rowCount, result.lineCount, result.errorCount]).toEqual([2, 4, 2]);
  });

  test("do not settle the type of a column", () => {
    expect(pointsOf(decode("m a=1i,b=x\nm a=2.5").batch).map((point) => point.fields["a"])).toEqual(["float:2.5"]);
  });

  test("are named up to a limit, counted beyond, and quoted up to 120 characters", () => {
    const result = decode("bad\n".repeat(ERROR_LINES_MAX + 50));
    expect([result.errors.length, result.errorCount]).toEqual([ERROR_LINES_MAX, ERROR_LINES_MAX + 50]);
    expect(decode(`${"é".repeat(500)}\n`).errors[0]?.text).toBe("é".repeat(120));
    expect(decode(`${"x".repeat(119)}\u{1f600}${"x".repeat(9)}\r\n`).errors[0]?.text).toBe("x".repeat(119));
    expect(decode("x\r\n").errors[0]?.text).toBe("x");
  });

  test("of a kind that may not become a table say so", () => {
    const result = decode("a\\ b v=1i\nm v=1i\na\\ b v=2i", { acceptsTable: (name) => !name.includes(" ") });
    expect(result.errors.map((error) => error.reason)).toEqual([
      "measurement 'a b' cannot be a table name",
      "measurement 'a b' cannot be a table name",
    ]);
    expect(result.rowCount).toBe(1);
  });
});

describe("names and types", () => {
  /** The reasons of a body's bad lines, with a table `m (host STRING tag, fixed BIGINT, small INT, ts time index)`. */
  function reasons(body: string): readonly string[] {
    const columns: Readonly<Record<string, ReturnType<DecodeOptions["schemas"]["columnOf"]>>> = {
      host: { type: STRING, semantic: "tag" },
      fixed: { type: INT64, semantic: "field" },
      small: { type: INT32, semantic: "field" },
      ts: { type: TIMESTAMP_MILLISECOND, semantic: "timestamp" },
    };
    const result = decode(body, { schemas: { columnOf: (_database, table, column) => (table === "m" ? columns[column] : undefined) } });
    return result.errors.map((error: LineError) => `${error.line} ${error.reason}`);
  }

  test("that fit the table are taken", () => {
    expect(reasons("m,host=a fixed=1i,fresh=1.5\nn,fixed=a host=1i,small=true")).toEqual([]);
  });

  test("that differ from the table are refused line by line", () => {
    expect(reasons("m fixed=1.5\nm fixed=2i\nm fixed=t")).toEqual([
      "1 column fixed: expected BIGINT, got DOUBLE",
      "3 column fixed: expected BIGINT, got BOOLEAN",
    ]);
    expect(reasons("m small=1i")).toEqual(["1 column small: expected INT, got BIGINT"]);
    expect(reasons("m host=1i")).toEqual(["1 column host: expected a tag, got a field of BIGINT"]);
    expect(reasons("m ts=1i")).toEqual(["1 column ts: expected the time column, got a field of BIGINT"]);
    expect(reasons("m,fixed=a v=1i")).toEqual(["1 column fixed: expected a field, got a tag"]);
    expect(reasons("m,ts=a v=1i")).toEqual(["1 column ts: expected the time column, got a tag"]);
  });

  test("follow the first good line of the request", () => {
    expect(reasons('n a=1i\nn a=1u\nn a=2i\nn a="x"')).toEqual([
      "2 column a: expected BIGINT, got BIGINT UNSIGNED",
      "4 column a: expected BIGINT, got STRING",
    ]);
    expect(reasons("n,t=1 a=1i\nn t=1i\nn,a=1 b=1i\nn,t=2 a=2i")).toEqual([
      "2 column t: expected a tag, got a field of BIGINT",
      "3 column a: expected a field, got a tag",
    ]);
    expect(reasons("n,t=1 t=1i")).toEqual(["1 column t: expected a tag, got a field of BIGINT"]);
  });

  test("are free again in the next request", () => {
    const decoder = new InfluxDecoder();
    expect(decode("n,t=1 a=1i", {}, decoder).errors).toEqual([]);
    expect(pointsOf(decode("n,a=1 t=1.5,b=1i", {}, decoder).batch).map(lineOf)).toEqual([
      lineOf(row("n", { a: "1" }, { t: "float:1.5", b: "int:1" })),
    ]);
  });

  test("of the time column are refused", () => {
    expect(reasons("n greptime_timestamp=1i\nn,greptime_timestamp=a v=1i")).toEqual([
      "1 column greptime_timestamp: expected the time column, got a field of BIGINT",
      "2 column greptime_timestamp: expected the time column, got a tag",
    ]);
  });

  test("are looked up once a request", () => {
    const asked: string[] = [];
    const columnOf = (database: string, table: string, column: string): undefined => {
      asked.push(`${database}.${table}.${column}`);
    };
    decode(`${"m,host=a v=1i,w=2i\n".repeat(50)}${"m,host=b x=1i,y=bad\n".repeat(50)}`, { schemas: { columnOf } });
    expect(asked).toEqual(["public.m.host", "public.m.v", "public.m.w", "public.m.x"]);
  });

  test("may come twice in one line: the last value wins", () => {
    check('m v=1i,v=2i,s="a",s="bc",b=t,b=f 1\nm v=3i,s="d",b=t 2', [
      row("m", {}, { v: "int:2", s: "string:bc", b: "boolean:false" }, 1n),
      row("m", {}, { v: "int:3", s: "string:d", b: "boolean:true" }, 2n),
    ]);
  });

  test("of a text beyond the limit are refused, and only their line is", () => {
    const text = "x".repeat(FIELD_TEXT_BYTES_MAX);
    const result = decode(`m s="${text}" 1\nm s="${text}x" 2\nm s="y" 3\n`);
    expect(result.errors.map(({ line, reason }) => `${line} ${reason}`)).toEqual([
      "2 a text is longer than 16777216 bytes; cut it, or send it in several fields",
    ]);
    expect(result.rowCount).toBe(2);
  });

  test("beyond the most columns of a table are refused", () => {
    const line = (count: number): string => `m ${Array.from({ length: count }, (_, i) => `f${i}=1i`).join(",")}\n`;
    const result = decode(line(TABLE_COLUMNS_MAX) + line(TABLE_COLUMNS_MAX + 1) + line(TABLE_COLUMNS_MAX));
    expect(result.errors.map((error) => `${error.line} ${error.reason}`)).toEqual(["2 the request gives a table more than 4096 columns"]);
    expect(result.rowCount).toBe(2);
  });
});

describe("columns", () => {
  test("have a validity only when a row leaves them out", () => {
    const result = decode("m a=1i,b=1i,c=1i 1\nm a=2i,c=2i 2\nm a=3i,c=3i,d=t 3\nm a=4i 4");
    const validity = (name: string): unknown => {
      const vector = fieldOf(result, name)?.vector;
      return vector?.kind === "number" && vector.validity !== undefined ? [...vector.validity.subarray(0, 4)] : undefined;
    };
    expect([validity("a"), validity("b"), validity("c"), validity("d")]).toEqual([undefined, [1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 1, 0]]);
    expect(result.batch.tables[0]?.fields.map((field) => field.name)).toEqual(["a", "b", "c", "d"]);
  });

  test("of integers are as wide as their widest value", () => {
    const arrays = (body: string): unknown => {
      const vector = fieldOf(decode(body), "v")?.vector;
      return vector?.kind === "number" || vector?.kind === "wide"
        ? [vector.values.constructor.name, ...vector.values.slice(0, 2)]
        : undefined;
    };
    expect(arrays("m v=1i\nm v=-2147483648i")).toEqual(["Int32Array", 1, -2_147_483_648]);
    expect(arrays("m v=1i\nm v=2147483648i")).toEqual(["Float64Array", 1, 2_147_483_648]);
    expect(arrays("m v=-5i\nm v=9007199254740991i")).toEqual(["Float64Array", -5, Number.MAX_SAFE_INTEGER]);
    expect(arrays("m v=-5i\nm v=9007199254740993i")).toEqual(["BigInt64Array", -5n, 9_007_199_254_740_993n]);
    expect(arrays("m v=9007199254740993i\nm v=-5i")).toEqual(["BigInt64Array", 9_007_199_254_740_993n, -5n]);
    expect(arrays("m v=4294967296i\nm v=-9223372036854775808i")).toEqual(["BigInt64Array", 4_294_967_296n, -(2n ** 63n)]);
    expect(arrays("m v=7u\nm v=18446744073709551615u")).toEqual(["BigUint64Array", 7n, 2n ** 64n - 1n]);
    expect(arrays("m v=7u\nm v=4294967296u")).toEqual(["Float64Array", 7, 4_294_967_296]);
  });

  test("grow with their rows, gaps included", () => {
    const body = Array.from(
      { length: 5000 },
      (_, i) => `m a=${i}i${i % 7 === 0 ? `,b=${i}.5,s="x${i}",t=t,w=9007199254740993i` : ""} ${i}\n`,
    ).join("");
    const want = Array.from({ length: 5000 }, (_, i) => {
      const rare = { b: `float:${i}.5`, s: `string:x${i}`, t: "boolean:true", w: "int:9007199254740993" };
      return row("m", {}, { a: `int:${i}`, ...(i % 7 === 0 ? rare : {}) }, BigInt(i));
    });
    check(body, want);
  });
});

describe("times", () => {
  test("scale exactly from every precision", () => {
    const time = (precision: DecodeOptions["precision"], text: string): bigint | undefined => {
      return pointsOf(decode(`m v=1i ${text}`, { precision }).batch)[0]?.time;
    };
    expect(time("ns", "1686441600000000001")).toBe(1_686_441_600_000_000_001n);
    expect(time("us", "-1686441600000001")).toBe(-1_686_441_600_000_001_000n);
    expect(time("ms", "-1")).toBe(-1_000_000n);
    expect(time("s", "9223372036")).toBe(9_223_372_036_000_000_000n);
    expect(time("m", "-153722867")).toBe(-9_223_372_020_000_000_000n);
    expect(time("h", "2562047")).toBe(9_223_369_200_000_000_000n);
    expect(time("s", "9223372037")).toBeUndefined();
    expect(time("h", "2562048")).toBeUndefined();
    expect(time("ns", "-9223372036854775809")).toBeUndefined();
  });

  test("are not mistaken for the one of the line before", () => {
    const times = ["1686441600000000000", "16864416000000000001", "168644160000000000", "", "1686441600000000000", "-1686441600000000000"];
    const result = decode(times.map((time) => `m v=1i ${time}\n`).join(""));
    expect(result.errors.map((error) => error.line)).toEqual([2]);
    const want = ["1686441600000000000", "168644160000000000", "42", "1686441600000000000", "-1686441600000000000"];
    const got = pointsOf(result.batch).map((point) => String(point.time));
    expect(got.sort()).toEqual(want.sort());
  });

  test("far apart go to further writes of the same table, each exact", () => {
    const times = [0n, 2n ** 63n - 1n, -(2n ** 63n), 5n, 2n ** 62n + 1n, 2n ** 63n - 2n, -1n];
    const result = decode(times.map((time, i) => `m,t=${i} v=${i}i,s="${i}" ${time}\n`).join(""));
    expect(result.errors).toEqual([]);
    expect(
      pointsOf(result.batch)
        .map((point) => `${point.fields["v"]} ${point.time}`)
        .sort(),
    ).toEqual(times.map((time, i) => `int:${i} ${time}`).sort());
    expect(result.batch.tables.map((write) => write.rowCount)).toEqual([2, 2, 1, 1, 1]);
  });

  test("that are equal stay in order, so that the last row still wins", () => {
    const body = Array.from({ length: 60 }, (_, i) => `m v=${i}i ${i % 3 === 0 ? "9000000000000000000" : "0"}\n`).join("");
    const order = pointsOf(decode(body).batch)
      .filter((point) => point.time === 0n)
      .map((point) => Number(point.fields["v"]?.slice(4)));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order.length).toBe(40);
  });
});

describe("a decoder", () => {
  test("gives the same rows for a request whatever it has guessed before", () => {
    const decoder = new InfluxDecoder();
    const bodies = [
      "m,h=1 a=1i,b=2i 1\nm,h=2 a=1i,b=2i 1\n",
      "m,h=2 b=1.5,a=t 2\nn a=1i\nm,h=1 c=1i",
      "m,h=1 a=1i 9000000000000000000\n",
      "\n",
    ];
    for (const body of [...bodies, ...bodies.toReversed(), ...bodies]) {
      expect(pointsOf(decode(body, {}, decoder).batch).map(lineOf)).toEqual(pointsOf(decode(body).batch).map(lineOf));
    }
  });

  test("forgets everything when no request comes for long enough", () => {
    jest.useFakeTimers();
    try {
      const decoder = new InfluxDecoder(undefined, undefined, 1000);
      const body = Array.from({ length: 2000 }, (_, i) => `cpu,host=h${i} v=1 1`).join("\n");
      const { dictionary } = decode(body, {}, decoder).batch;
      jest.advanceTimersByTime(900);
      decode("cpu,host=h1 v=1 1", {}, decoder);
      jest.advanceTimersByTime(900);
      expect([dictionary.generation, dictionary.size]).toEqual([0, 2000]);
      jest.advanceTimersByTime(1200);
      expect([dictionary.generation, dictionary.size, dictionary.arena.length < 100_000]).toEqual([1, 0, true]);
      expect(decode(body, {}, decoder).rowCount).toBe(2000);
      expect(dictionary.size).toBe(2000);
    } finally {
      jest.useRealTimers();
    }
  });

  test("a request may name many measurements whatever earlier ones named", () => {
    const decoder = new InfluxDecoder();
    const body = (from: number): string => Array.from({ length: 40_000 }, (_, i) => `m${from + i} v=1`).join("\n");
    for (const from of [0, 40_000]) {
      expect(decode(body(from), {}, decoder)).toMatchObject({ rowCount: 40_000, errorCount: 0 });
    }
  });

  test("one that names too many has its further lines refused, and the next begins anew", () => {
    const decoder = new InfluxDecoder();
    const lines = Array.from({ length: 140_000 }, (_, i) => `m${i} v=1`).join("\n");
    const { rowCount, errorCount, errors } = decode(lines, {}, decoder);
    expect([rowCount, errorCount]).toEqual([131_072, 8928]);
    expect(errors[0]?.reason).toBe("the request names more than 65536 measurements; send it in parts");
    expect(decode("other v=1", {}, decoder)).toMatchObject({ rowCount: 1, errorCount: 0 });
  });

  test("forgets the series between two requests when the dictionary is full", () => {
    const decoder = new InfluxDecoder(500);
    const body = (from: number): string => Array.from({ length: 50 }, (_, i) => `m,host=host_${from + i} v=${i}i ${i}\n`).join("");
    const first = decode(body(0), {}, decoder);
    expect([first.batch.dictionary.generation, first.batch.dictionary.size]).toEqual([0, 50]);
    const second = decode(body(25), {}, decoder);
    expect([second.batch.dictionary.generation, second.batch.dictionary.size]).toEqual([1, 50]);
    expect(pointsOf(second.batch).map(lineOf)).toEqual(pointsOf(decode(body(25)).batch).map(lineOf));
  });

  test("refuses lines that unfold to more memory than it may take, and goes on with the next request", () => {
    const decoder = new InfluxDecoder(undefined, 300_000);
    const sparse = Array.from({ length: 500 }, (_, i) => `m f${i}=${i}i ${i}\n`).join("");
    const result = decode(sparse, {}, decoder);
    expect(result.errorCount).toBeGreaterThan(0);
    expect(result.rowCount + result.errorCount).toBe(500);
    expect(result.errors[0]?.reason).toBe("the request unfolds to more columns and rows than memory is set aside for; send it in parts");
    expect(decode("m f0=1i", {}, decoder).errorCount).toBe(0);
  });

  test("keeps a time of its default when truncation leaves the 64-bit range out", () => {
    expect(decode("m v=1i", { precision: "h", defaultTimeNanos: -(2n ** 63n) }).errorCount).toBe(1);
  });
});
