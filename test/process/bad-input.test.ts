/**
 * What clients send that is no good: each request gets a clear refusal, harms nothing else, and leaves the server alive. The last tests
 * look at what is left: exactly the good rows, in memory that stayed small.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { platform } from "node:os";
import { postLines, postSql, queryRows, type RequestOptions, send, writeLines } from "../support/http-client.ts";
import { openRequest } from "../support/raw-request.ts";
import { TestServer } from "../support/server-process.ts";

const MIB = 1024 * 1024;
const TOO_LARGE = "Failed to buffer the request body: length limit exceeded";
/** An idle server takes about 70 MiB, a body may have 64 MiB and is held twice at most: as sent and as decoded. */
const PEAK_BYTES_MAX = 512 * MIB;
const GZIP = { headers: { "content-encoding": "gzip" } };

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
  await writeLines(server.url, 'good,host=a v=1i,f=0.5 1\ngood,host=b v=2i,f=1.5,s="x" 1');
});
afterAll(async () => {
  await server.end();
});

/** Posts lines that are refused as the line-protocol endpoints do. */
async function check(lines: string | Uint8Array, error: string | RegExp, options: RequestOptions = {}): Promise<void> {
  const { status, headers, text } = await postLines(server.url, lines, options);
  expect(status, text).toBe(400);
  expect(headers.get("content-type")).toBe("application/json");
  const body = JSON.parse(text) as { readonly error: string };
  expect(Object.keys(body)).toEqual(["error"]);
  expect(body.error).toMatch(error);
}

describe("lines", () => {
  const parse = (reason: string, line: string): string =>
    `Failed to parse InfluxDB line protocol: ${reason} at line 1: '${line}' (unable to parse 1 of 1 lines, nothing was written)`;

  test("without fields, or with a field that is none", async () => {
    await check("good,host=a", parse("No fields were provided", "good,host=a"));
    await check("good,host=a 1", "at line 1: 'good,host=a 1'");
    await check("good,host=a v= 1", "at line 1");
  });

  test("with numbers that no column holds", async () => {
    await check("good,host=a f=NaN 2", "at line 1: 'good,host=a f=NaN 2'");
    await check("good,host=a f=-Inf 2", "at line 1");
    await check("good,host=a f=1e999 2", parse("Unable to parse floating-point value '1e999'", "good,host=a f=1e999 2"));
    const big = "9223372036854775808i";
    await check(`good,host=a v=${big} 2`, parse(`Unable to parse integer value '${big}'`, `good,host=a v=${big} 2`));
    await check("good,host=a v=-9223372036854775809i 2", "Unable to parse integer value '-9223372036854775809i'");
    await check("good,host=a u=18446744073709551616u 2", "Unable to parse unsigned integer value '18446744073709551616u'");
    await check("good,host=a v=1i 9223372036854775808", "Unable to parse timestamp value '9223372036854775808'");
    await check("good,host=a v=1i 9223372036854775807", "Unable to parse timestamp value", { query: { precision: "s" } });
  });

  test("of another type than the column: named, and the other lines are kept", async () => {
    await check("good,host=a v=1.5 2", "column v: expected BIGINT, got DOUBLE at line 1: 'good,host=a v=1.5 2'");
    await check('good,host=c v=3i 1\ngood,host=a v="x" 2', "expected BIGINT, got STRING at line 2");
    await check("good,host=d v=4i 1\ngood,host=a v=true 2", /got BOOLEAN at line 2.*partial write: 1 rows were written/);
    await check("good,v=tag host=1i 2", "at line 1");
  });

  test("of which all are refused when the client wants all or nothing", async () => {
    await check("good,host=x v=9i 1\ngood,host=x v=oops 2", "nothing was written", { query: { accept_partial: "false" } });
  });

  test("that are not UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from("good,host=e v=5i 1\ngood,host="), Buffer.from([0xff, 0xfe]), Buffer.from(" v=9i 1")]);
    await check(bytes, /is not UTF-8 at line 2.*partial write: 1 rows/);
    await check(Buffer.concat([Buffer.from('good,host=x s="'), Buffer.from([0xc3, 0x28]), Buffer.from('" 1')]), "is not UTF-8");
  });

  test("that are no lines at all", async () => {
    const noise = new Uint8Array(20_000); // xorshift: the same noise in every run
    for (let i = 0, x = 2463534242; i < noise.length; i++) {
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
      noise[i] = x;
    }
    await check(noise, /^Failed to parse InfluxDB line protocol: .*nothing was written/s);
    await check(new Uint8Array(5000), /nothing was written/);
    await check(`good,host=x ${"f".repeat(100_000)}=1 1`, "a name is longer than");
    await check(`good,host=x ${Array.from({ length: 5000 }, (_, i) => `c${i}=1`).join(",")} 1`, "more than 4096 columns");
  });

  test("for a table that cannot be", async () => {
    await check("1\u0085st v=1i 1", "cannot be a table name");
    await check("../../etc\u007f/passwd v=1i 1", "control character 0x7f in a name");
    await check("good greptime_timestamp=1i 1", "column greptime_timestamp: expected the time column");
  });
});

describe("parameters", () => {
  test("a database that does not exist, in the words that Telegraf looks for", async () => {
    await check("good v=9i 1", /^database not found: nowhere$/, { query: { db: "nowhere" } });
    await check("good v=9i 1", /^database not found: nowhere$/, { headers: { "x-greptime-db-name": "nowhere" } });
  });

  test("a precision that is none", async () => {
    for (const precision of ["y", "", "NS"]) {
      await check("good v=9i 1", `Failed to convert time precision, name: ${precision}`, { query: { precision } });
    }
  });

  test("hints that are none", async () => {
    await check("fresh v=9i 1", "auto_create_table", { headers: { "x-greptime-hints": "auto_create_table=maybe" } });
    await check("fresh v=9i 1", "`auto_create_table` hint is disabled", { headers: { "x-greptime-hints": "auto_create_table=false" } });
  });
});

describe("bodies", () => {
  const packed = Bun.gzipSync(Buffer.from("good,host=x v=9i 1\n".repeat(1000)));

  test("that are no gzip, cut off or damaged", async () => {
    await check("good,host=x v=9i 1", /^cannot decode the gzip body: /, GZIP);
    await check(packed.subarray(0, packed.length - 10), /^cannot decode the gzip body: /, GZIP);
    const damaged = Buffer.from(packed);
    damaged.writeUInt32LE(0, damaged.length - 8); // the checksum
    await check(damaged, /^cannot decode the gzip body: /, GZIP);
    const zstd = Bun.zstdCompressSync(Buffer.from("good,host=x v=9i 1\n".repeat(1000)));
    await check(zstd.subarray(0, zstd.length - 3), /^cannot decode the zstd body: /, { headers: { "content-encoding": "zstd" } });
  });

  test("a gibibyte of zeros in a megabyte of gzip", async () => {
    const bomb = Bun.gzipSync(new Uint8Array(1024 * MIB));
    expect(bomb.length).toBeLessThan(2 * MIB);
    const { status, text } = await postLines(server.url, bomb, GZIP);
    expect({ status, text }).toEqual({ status: 413, text: TOO_LARGE });
  });

  test("of 200 MB are refused by their announced length, and what follows is no request", async () => {
    const request = await openRequest(server.url, "POST /v1/influxdb/write", { "content-length": String(200 * MIB) });
    expect(await request.answer()).toMatch(/^HTTP\/1\.1 413 /);
    request.write("GET /status HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await queryRows(server.url, "SELECT 1");
    expect((await request.answer()).match(/HTTP\/1\.1/g)).toHaveLength(1);
    request.close();
  });

  test("of 200 MB without a length are refused before they are all sent", async () => {
    const chunk = new Uint8Array(MIB).fill(0x61); // 'a'
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === 200) controller.close();
        else controller.enqueue(chunk);
        sent++;
      },
    });
    const { status, text } = await send(`${server.url}/v1/influxdb/write`, { method: "POST", body });
    expect({ status, text }).toEqual({ status: 413, text: TOO_LARGE });
    expect(sent).toBeLessThan(200);
  });

  test("that come slowly are taken", async () => {
    const line = "good,host=f v=6i 1";
    const request = await openRequest(server.url, "POST /v1/influxdb/write", { "content-length": String(line.length) });
    for (const byte of line) {
      request.write(byte);
      await Bun.sleep(5);
    }
    expect(await request.answer()).toMatch(/^HTTP\/1\.1 204 /);
    request.close();
  });

  test("that end in the middle write nothing, whatever whole lines came", async () => {
    const known = await openRequest(server.url, "POST /v1/influxdb/write", { "content-length": "1000" });
    known.write("good,host=x v=9i 1\n");
    const chunked = await openRequest(server.url, "POST /v1/influxdb/write", { "transfer-encoding": "chunked" });
    chunked.write("13\r\ngood,host=x v=9i 1\n\r\n");
    await queryRows(server.url, "SELECT 1"); // a whole turn: the server has seen the beginnings
    known.close();
    chunked.close();
  });

  test("whose framing is wrong", async () => {
    const heads: readonly Readonly<Record<string, string>>[] = [
      { "content-length": "-5" },
      { "content-length": "5", "transfer-encoding": "chunked" },
    ];
    for (const headers of heads) {
      const request = await openRequest(server.url, "POST /v1/influxdb/write", headers);
      expect(await request.closed()).toMatch(/^HTTP\/1\.1 400 /);
    }
    const request = await openRequest(server.url, "POST /v1/influxdb/write", { "transfer-encoding": "chunked" });
    request.write("zz\r\ngood,host=x v=9i 1\r\n");
    expect(await request.closed()).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("behind heads without end", async () => {
    const request = await openRequest(server.url, "GET /health", { "x-long": "a".repeat(100_000) });
    expect(await request.closed()).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe("SQL", () => {
  async function checkSql(sql: string, code: number, error: string): Promise<void> {
    const { status, headers, text } = await postSql(server.url, sql);
    expect(status, text).toBe(400);
    expect(headers.get("x-greptime-err-code")).toBe(String(code));
    expect(JSON.parse(text)).toEqual({ code, error: expect.stringContaining(error), execution_time_ms: expect.any(Number) });
  }

  test("that is none, that is too deep, that names what is not there", async () => {
    await checkSql("SELEC 1", 1001, "Line: 1, Column: 1");
    await checkSql("SELECT 1; SELECT 'open", 2000, "Line: 1, Column: 18");
    await checkSql(`SELECT ${"(".repeat(20_000)}1${")".repeat(20_000)}`, 2000, "nests deeper");
    await checkSql(`SELECT ${"(".repeat(50_000)}1${")".repeat(50_000)}`, 2000, "more than 65536 words");
    await checkSql("SELECT v FROM nowhere", 4001, "Table not found: greptime.public.nowhere");
    await checkSql("SELECT nothing FROM good", 3000, "No field named nothing");
    await checkSql("  ; -- nothing\n", 1004, "empty statements");
  });

  test("of which a later statement is wrong does nothing at all", async () => {
    await checkSql("DROP TABLE good; SELEC 1", 1001, "Column: 18");
  });

  test("in a body that is no form", async () => {
    const { status, text } = await send(`${server.url}/v1/sql`, {
      method: "POST",
      body: "SELECT 1",
      headers: { "content-type": "text/plain" },
    });
    expect({ status, text }).toEqual({ status: 415, text: "Form requests must have `Content-Type: application/x-www-form-urlencoded`" });
  });
});

describe("after all that", () => {
  const GOOD = [
    ["a", 1, 0.5, null],
    ["b", 2, 1.5, "x"],
    ["c", 3, null, null],
    ["d", 4, null, null],
    ["e", 5, null, null],
    ["f", 6, null, null],
    ["g", 7, null, null],
  ];

  async function checkRows(): Promise<void> {
    const { columns, types, rows } = await queryRows(server.url, "SELECT * FROM good ORDER BY host");
    expect(Object.fromEntries(columns.map((name, i) => [name, types[i]]))).toEqual({
      host: "String",
      v: "Int64",
      f: "Float64",
      s: "String",
      greptime_timestamp: "TimestampNanosecond",
    });
    const order = ["host", "v", "f", "s"].map((name) => columns.indexOf(name));
    expect(rows.map((row) => order.map((at) => row[at]))).toEqual(GOOD);
    const tables = (await queryRows(server.url, "SHOW TABLES")).rows.flat();
    expect(tables.filter((name) => name !== "numbers")).toEqual(["good"]);
  }

  test("a good write works, and exactly the good rows are there", async () => {
    await writeLines(server.url, Bun.gzipSync(Buffer.from("good,host=g v=7i 1\n")), GZIP);
    await checkRows();
  });

  test.skipIf(platform() !== "linux")("memory stayed small", () => {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.running.pid}/status`, "utf8"))?.[1];
    expect(Number(peak) * 1024).toBeLessThan(PEAK_BYTES_MAX);
  });

  test("the server was never in trouble, and the rows outlive a restart", async () => {
    expect(server.log()).not.toMatch(/"level":"(?:warn|error)"/);
    expect((await server.stop()).status).toBe(0);
    await server.restart();
    await checkRows();
  });
});
