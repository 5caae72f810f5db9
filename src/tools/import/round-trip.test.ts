/** What is exported and imported again is equal: every type of a column, NULL, extremes, quotes, line ends, Unicode. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CASES } from "../../../test/engine/type-cases.ts";
import { TestServer } from "../../../test/support/server-process.ts";
import { toolRun } from "../../../test/support/tool-run.ts";
import { Client } from "../common/client.ts";
import { exportTool } from "../export/export.ts";
import { importTool } from "./import.ts";

let server: TestServer;
let client: Client;
let folder = "";
beforeAll(async () => {
  server = await TestServer.start();
  client = new Client({ url: server.url, user: undefined, password: "", database: "public", tls: undefined });
  folder = join(server.folder, "files");
  await mkdir(folder);
}, 60_000);
afterAll(async () => {
  await server.end();
});

const rowsOf = async (table: string): Promise<unknown> => client.rows(`SELECT * FROM ${table} ORDER BY ts, tag`);

/** Exports `source`, imports the file into a table like it, and compares. */
async function check(source: string, format: string): Promise<void> {
  const path = join(folder, `${source}.${format === "lines" ? "lp" : format}`);
  const exported = await toolRun(exportTool, ["--url", server.url, source, "-F", format, "-o", path]);
  expect(exported).toEqual({ status: 0, out: "", err: "" });
  const into = format === "lines" ? source : "copy";
  const create = String((await client.rows(`SHOW CREATE TABLE ${source}`))[0]?.[1]);
  const want = await rowsOf(source);
  if (format === "lines") await client.run(`DROP TABLE ${source}`);
  await client.run(create.replace(/IF NOT EXISTS "\w+"/, `"${into}"`));
  const table = format === "lines" ? [] : ["--table", into];
  const imported = await toolRun(importTool, ["--url", server.url, ...table, "--batch-rows", "3", path], {
    env: { XDG_STATE_HOME: folder },
  });
  expect(imported).toEqual({ status: 0, out: "", err: "" });
  expect(await rowsOf(into)).toEqual(want);
  if (into === "copy") await client.run("DROP TABLE copy");
}

const HOSTILE = [
  "",
  " ",
  "NULL",
  '"',
  "'",
  '""',
  ",",
  "a,b",
  "\n",
  "\r\n",
  "a\nb",
  "\t",
  "\\",
  "\\n",
  "é 漢字 😀",
  "\u0000",
  "\ufeff",
  "x".repeat(70_000),
];

describe("every type of a column", () => {
  test.each(["csv", "json", "parquet"])("documents by %s", async (format) => {
    await client.run(
      "CREATE TABLE documents (ts TIMESTAMP(3) TIME INDEX, tag STRING PRIMARY KEY, j JSON2, k JSON) WITH (append_mode = 'true')",
    );
    const whole = literal(JSON.stringify({ a: 1, b: { c: [1, 2.5, null, "x"] }, 'é"': true }));
    const other = literal('{"a":"text","n":18446744073709551615}');
    await client.run(`INSERT INTO documents VALUES (1, 'a', ${whole}, '{"z":1}'), (2, 'b', NULL, NULL), (3, 'c', ${other}, '[1]')`);
    await check("documents", format);
    await client.run("DROP TABLE documents");
  });
  test.each(["csv", "json", "parquet"])("by %s", async (format) => {
    const columns = CASES.map(({ type }, i) => `c${i} ${type}`);
    await client.run(`CREATE TABLE every (ts TIMESTAMP(9) TIME INDEX, tag STRING PRIMARY KEY, ${columns.join(", ")})`);
    const rows = Math.max(...CASES.map(({ literals }) => literals.length));
    for (let row = 0; row <= rows; row++) {
      const values = CASES.map(({ literals }) => literals[row]?.[0] ?? "NULL");
      await client.run(`INSERT INTO every VALUES (${row}, 't${row % 2}', ${values.join(", ")})`);
    }
    for (const [i, text] of HOSTILE.entries()) {
      const column = `c${CASES.findIndex(({ type }) => type === "STRING")}`;
      const values = [1000 + i, literal(text.slice(0, 100)), literal(text)];
      await client.run(`INSERT INTO every (ts, tag, ${column}) VALUES (${values.join(", ")})`);
    }
    await check("every", format);
    await client.run("DROP TABLE every");
  });
});

test("random rows come back by each format", async () => {
  const text = fc.oneof(
    fc.constantFrom(...HOSTILE.slice(0, -1)),
    fc.string({ unit: "binary", maxLength: 20 }).filter((value) => value.isWellFormed()),
  );
  const row = fc.record({
    tag: fc.option(text, { nil: undefined }),
    i: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: undefined }),
    f: fc.option(fc.double({ noNaN: true }), { nil: undefined }),
    s: fc.option(text, { nil: undefined }),
    b: fc.option(fc.boolean(), { nil: undefined }),
    d: fc.option(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), fc.constantFrom("csv", "json", "parquet"), async (rows, format) => {
      await client.run("DROP TABLE IF EXISTS random");
      await client.run(
        "CREATE TABLE random (ts TIMESTAMP(3) TIME INDEX, tag STRING PRIMARY KEY, " +
          "i BIGINT, f DOUBLE, s STRING, b BOOLEAN, d DECIMAL(38, 4))",
      );
      for (const [at, { tag, i, f, s, b, d }] of rows.entries()) {
        const double = f === undefined ? "NULL" : Number.isFinite(f) ? (Object.is(f, -0) ? "'-0'" : String(f)) : `'${f}'`;
        const decimal = d === undefined ? "NULL" : `'${d / 10_000n}'`;
        await client.run(
          `INSERT INTO random VALUES (${at}, ${literal(tag)}, ${i ?? "NULL"}, ${double}, ${literal(s)}, ${b ?? "NULL"}, ${decimal})`,
        );
      }
      await check("random", format);
    }),
    { seed: 20_261_124, numRuns: 40 },
  );
}, 60_000);

test("line protocol has what it has a form for, and refuses the rest by name", async () => {
  await client.run(
    'CREATE TABLE lines (ts TIMESTAMP(9) TIME INDEX, tag STRING, "t 2" STRING, ' +
      'i BIGINT, u BIGINT UNSIGNED, f DOUBLE, s STRING, b BOOLEAN, PRIMARY KEY (tag, "t 2"))',
  );
  await client.run("INSERT INTO lines VALUES (1, 'a b,c=d', NULL, -9223372036854775808, 18446744073709551615, 1e300, 'x\"\\\ny', true)");
  await client.run("INSERT INTO lines VALUES (-2, 'é', '漢', NULL, NULL, NULL, '', NULL), (3, 'x', 'y', 1, NULL, -0.5, NULL, false)");
  await check("lines", "lines");
  for (const [columns, values, want] of [
    ["d DATE", "'2024-01-01'", "column d is Date"],
    ["v DOUBLE", "'NaN'", "column v of a row is NaN"],
    ["v DOUBLE", "NULL", "all fields of a row are NULL"],
  ]) {
    await client.run(`CREATE TABLE refused (ts TIMESTAMP TIME INDEX, tag STRING PRIMARY KEY, ${columns})`);
    await client.run(`INSERT INTO refused VALUES (1, 'a', ${values})`);
    const { status, err } = await toolRun(exportTool, ["--url", server.url, "refused", "-F", "lines", "-o", "-"]);
    expect([status, err]).toEqual([1, expect.stringContaining(want ?? "")]);
    await client.run("DROP TABLE refused");
  }
});

test("whole databases come back, and a second export goes on", async () => {
  await client.run('CREATE DATABASE "whole db"');
  await client.run('CREATE TABLE "a/b.c" (ts TIMESTAMP TIME INDEX, tag STRING PRIMARY KEY, v INT)', undefined, "whole db");
  await client.run("INSERT INTO \"a/b.c\" VALUES (1, 'x', 2)", undefined, "whole db");
  const run = (): ReturnType<typeof toolRun> =>
    toolRun(exportTool, ["--url", server.url, "--db", "whole db", "--all", "-o", join(folder, "all")]);
  expect(await run()).toEqual({ status: 0, out: "", err: "" });
  expect(await run()).toEqual({ status: 0, out: "", err: "" });
  const written = [...new Bun.Glob("**/*").scanSync(join(folder, "all"))].sort();
  expect(written).toEqual(["whole%20db/a%2Fb.c.parquet", "whole%20db/schema.sql"]);
  await client.run('CREATE DATABASE "again"');
  await client.run(
    await Bun.file(join(folder, "all/whole%20db/schema.sql"))
      .text()
      .then((text) => text.trim().slice(0, -1)),
    undefined,
    "again",
  );
  const path = join(folder, "all", written[0] ?? "");
  expect((await toolRun(importTool, ["--url", server.url, "--db", "again", path], { env: { XDG_STATE_HOME: folder } })).status).toBe(0);
  expect(await client.rows('SELECT * FROM "a/b.c"', undefined, "again")).toEqual([[1n, "x", 2]]);
});

function literal(text: string | undefined): string {
  return text === undefined ? "NULL" : `'${text.replaceAll("'", "''")}'`;
}
