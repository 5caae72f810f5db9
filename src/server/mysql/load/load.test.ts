/** LOAD DATA LOCAL INFILE: statements, rows however their bytes are cut, and real drivers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import mysql from "mysql2/promise";
import { type MysqlFixture, startMysql } from "../../../../test/support/mysql-fixture.ts";
import { answer, errorOf, MysqlWire, packet, query } from "../../../../test/support/mysql-wire.ts";
import { scannedRows } from "../../wire/intake/scanned-rows.ts";
import { Flaw, loadMarks, scanLoad } from "./kernels/scan-load.ts";
import { type LoadStatement, parseLoad } from "./load-syntax.ts";

const SEED = 20_261_123;

function parsed(rest: string): LoadStatement {
  const statement = parseLoad(`LOAD DATA LOCAL INFILE ${rest}`);
  if (statement === undefined) throw new Error(`no LOAD DATA: ${rest}`);
  return statement;
}

describe("statements", () => {
  test("what there is without options", () => {
    const want = {
      kind: "load",
      file: "a b.tsv",
      table: ["t"],
      columns: undefined,
      fieldEnd: "\t",
      lineEnd: "\n",
      quote: "",
      escape: "\\",
    };
    expect(parsed("'a b.tsv' INTO TABLE t")).toEqual({ ...want, ignoredLines: 0 } as LoadStatement);
  });

  test("all of them", () => {
    const text = `load data low_priority local infile "it's" replace into table \`My Db\`.T character set utf8mb4
      fields terminated by ',' optionally enclosed by '"' escaped by '' lines terminated by '\r\n' ignore 2 rows (a, @x, \`B c\`)`;
    expect(parseLoad(text)).toEqual({
      kind: "load",
      file: "it's",
      table: ["My Db", "t"],
      columns: ["a", undefined, "B c"],
      fieldEnd: ",",
      lineEnd: "\r\n",
      quote: '"',
      escape: "",
      ignoredLines: 2,
    });
  });

  test("others are none", () => {
    expect(parseLoad("SELECT 1")).toBeUndefined();
    expect(parseLoad("LOAD_DATA")).toBeUndefined();
  });

  test.each([
    ["LOAD DATA INFILE 'f' INTO TABLE t", "of the server"],
    ["LOAD XML LOCAL INFILE 'f' INTO TABLE t", "LOAD XML"],
    ["LOAD DATA LOCAL INFILE 'f' IGNORE INTO TABLE t", "IGNORE"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t PARTITION (p)", "PARTITION"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t CHARACTER SET latin1", "latin1"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t (a, @b) SET c = @b", "SET"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t LINES STARTING BY 'x'", "STARTING"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS TERMINATED BY '' ENCLOSED BY ''", "fixed width"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS TERMINATED BY '\n'", "end differently"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS TERMINATED BY '\"' ENCLOSED BY '\"'", "must not begin"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS ENCLOSED BY 'ab'", "one character"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t FIELDS", "expected TERMINATED"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t IGNORE x LINES", "number of lines"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t ()", "empty"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t (@a)", "no column"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t (a", "expected )"],
    ["LOAD DATA LOCAL INFILE f INTO TABLE t", "a text in quotes"],
    ["LOAD DATA LOCAL INFILE 'f' INTO TABLE t WHERE a", "end of the statement"],
  ])("refused: %s", (text, why) => {
    expect(() => parseLoad(text)).toThrow(why);
  });
});

type Row = readonly (string | undefined)[];
type Form = Pick<LoadStatement, "fieldEnd" | "lineEnd" | "quote" | "escape">;

const TSV: Form = { fieldEnd: "\t", lineEnd: "\n", quote: "", escape: "\\" };
const CSV: Form = { fieldEnd: ",", lineEnd: "\r\n", quote: '"', escape: "\\" };
const PLAIN_CSV: Form = { fieldEnd: ",", lineEnd: "\n", quote: '"', escape: "" };
const LONG_ENDS: Form = { fieldEnd: "||", lineEnd: "|;\n", quote: "'", escape: "\\" };

/** Rows of bytes that come in two parts. */
function read(
  text: string,
  cut: number,
  width: number,
  form: Form,
): { readonly rows: Row[]; readonly flaw: number; readonly lines: number[] } {
  const bytes = Buffer.from(text);
  const byteOf = (mark: string): number => (mark === "" ? -1 : mark.charCodeAt(0));
  const marks = loadMarks(Buffer.from(form.fieldEnd), Buffer.from(form.lineEnd), byteOf(form.quote), byteOf(form.escape));
  const found = scannedRows(width * 100);
  const lines = new Uint32Array(100);
  const rows: Row[] = [];
  const counts: number[] = [];
  let at = 0;
  for (const [to, isLast] of [
    [cut, false],
    [bytes.length, true],
  ] as const) {
    scanLoad(bytes, at, to, width, 100, marks, isLast, found, lines);
    for (let row = 0; row < found.rows; row++) {
      counts.push(lines[row]!);
      const values: (string | undefined)[] = [];
      for (let i = row * width; i < (row + 1) * width; i++)
        values.push(found.ends[i]! < found.starts[i]! ? undefined : bytes.toString("utf8", found.starts[i], found.ends[i]));
      rows.push(values);
    }
    at = found.next;
  }
  return { rows, flaw: found.flaw, lines: counts };
}

/** A row as a writer of such files has it. */
function written(row: Row, { fieldEnd, lineEnd, quote, escape }: Form): string {
  const values = row.map((value) => {
    if (value === undefined) return escape === "" ? "NULL" : `${escape}N`;
    const escaped = escape === "" ? value : value.replace(/[\\|\t\n\r\0]/g, (character) => escape + (character === "\0" ? "0" : character));
    return quote === "" ? escaped : quote + escaped.replaceAll(quote, quote + quote) + quote;
  });
  return values.join(fieldEnd) + lineEnd;
}

describe("rows", () => {
  test.each([
    ["tabs", TSV],
    ["quotes", CSV],
    ["quotes without escapes", PLAIN_CSV],
    ["ends of several characters", LONG_ENDS],
  ])("are read as they were written, however they are cut: %s", (_, form) => {
    const value = fc.option(
      fc.string({ unit: fc.constantFrom("a", "N", "ä", "\t", "\n", "\r", "\\", '"', "'", ",", "|", ";", "\0", "NULL") }),
      {
        nil: undefined,
      },
    );
    const rows = fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(rows, fc.nat(), (all, cut) => {
        const text = all.map((row) => written(row, form)).join("");
        const length = Buffer.byteLength(text);
        expect(read(text, cut % (length + 1), 2, form)).toMatchObject({ rows: all, flaw: Flaw.None });
      }),
      { numRuns: 300, seed: SEED },
    );
  });

  const check = (text: string, form: Form, want: readonly Row[], flaw: number = Flaw.None): void => {
    for (let cut = 0; cut <= Buffer.byteLength(text); cut++)
      expect([cut, read(text, cut, want[0]?.length ?? 2, form)]).toMatchObject([cut, { rows: want, flaw }]);
  };

  test("letters behind an escape; the last line may lack its end", () =>
    check("a\\tb\\Z\\x\t\\N\n\\Nx\t\\\\N", TSV, [
      ["a\tb\u001ax", undefined],
      ["Nx", "\\N"],
    ]));

  test("quotes that end nothing stand for themselves", () =>
    check('"a"b","c""d"\n1"2,"x\ny"\n', PLAIN_CSV, [
      ['a"b', 'c"d'],
      ['1"2', "x\ny"],
    ]));

  test("NULL is a word without quotes, where there are quotes", () => {
    check('NULL,"NULL"\n', PLAIN_CSV, [[undefined, "NULL"]]);
    check("NULL\tx\n", TSV, [["NULL", "x"]]);
  });

  test("too few, too many, a quote that is not closed", () => {
    check("1\t2\n3\n4\t5\n", TSV, [["1", "2"]], Flaw.TooFew);
    check("1\t2\n3\t4\t5\n6\t7\n", TSV, [["1", "2"]], Flaw.TooMany);
    check('1,2\n3,"4\n', PLAIN_CSV, [["1", "2"]], Flaw.OpenQuote);
  });

  test("lines of each row", () => expect(read('1,"a\nb\nc"\n2,x\n', 0, 2, PLAIN_CSV).lines).toEqual([3, 1]));
});

describe("drivers", () => {
  let server: MysqlFixture;

  beforeAll(async () => {
    server = await startMysql();
  });

  afterAll(async () => {
    expect(server.bugs).toEqual([]);
    await server.stop();
  });

  const connect = (options: mysql.ConnectionOptions = {}): Promise<mysql.Connection> =>
    mysql.createConnection({ host: "127.0.0.1", port: server.port, user: "u", database: "public", dateStrings: true, ...options });

  async function load(client: mysql.Connection, rest: string, ...parts: readonly string[]): Promise<mysql.ResultSetHeader> {
    const [done] = await client.query<mysql.ResultSetHeader>({
      sql: `LOAD DATA LOCAL INFILE 'file' ${rest}`,
      infileStreamFactory: () => Readable.from(parts.map((part) => Buffer.from(part))),
    });
    return done;
  }

  async function inTable(
    columns: string,
    work: (client: mysql.Connection) => Promise<void>,
    options?: mysql.ConnectionOptions,
  ): Promise<void> {
    const client = await connect(options);
    await client.query(`CREATE TABLE t (${columns})`);
    try {
      await work(client);
    } finally {
      await client.query("DROP TABLE t");
      await client.end();
    }
  }

  const COLUMNS = "h STRING PRIMARY KEY, ts TIMESTAMP(3) TIME INDEX, v DOUBLE, n INT DEFAULT 7, note STRING";

  for (const compress of [false, true])
    test(`values of types, columns named, defaults, a value left out${compress ? ", compressed" : ""}`, () =>
      inTable(
        COLUMNS,
        async (client) => {
          const header = "time,what,host,skip,value\n";
          const lines = `2024-01-01 00:00:00.5,"a ""b""\n",h1,x,1.5\n2024-01-02,NULL,h2,y,\\N\n`;
          const rest = `INTO TABLE public.t FIELDS TERMINATED BY ',' ENCLOSED BY '"' IGNORE 1 LINES (ts, note, h, @skip, v)`;
          const done = await load(client, rest, header.slice(0, 5), header.slice(5) + lines.slice(0, 20), lines.slice(20));
          expect([done.affectedRows, done.info]).toEqual([2, "Records: 2  Deleted: 0  Skipped: 0  Warnings: 0"]);
          const [rows] = await client.query("SELECT h, ts, v, n, note FROM t ORDER BY h");
          expect(rows).toEqual([
            { h: "h1", ts: "2024-01-01 00:00:00.500", v: 1.5, n: 7, note: 'a "b"\n' },
            { h: "h2", ts: "2024-01-02 00:00:00", v: null, n: 7, note: null },
          ] as never);
        },
        { compress },
      ));

  test("times as numbers of the column's unit", () =>
    inTable("h STRING PRIMARY KEY, ts TIMESTAMP(9) TIME INDEX, t0 TIMESTAMP(0)", async (client) => {
      await load(client, "INTO TABLE t", "a\t1704067200123456789\t-1\n", "b\t-1\t\\N\n");
      expect((await client.query("SELECT * FROM t ORDER BY h"))[0]).toEqual([
        { h: "a", ts: "2024-01-01 00:00:00.123456789", t0: "1969-12-31 23:59:59" },
        { h: "b", ts: "1969-12-31 23:59:59.999999999", t0: null },
      ] as never);
    }));

  test("a hundred thousand rows, in parts", () =>
    inTable(COLUMNS, async (client) => {
      const parts = Array.from({ length: 100 }, (_, part) =>
        Array.from({ length: 1000 }, (_, i) => `h${i % 10}\t${part * 1000 + i}\t${i / 8}\t${i}\tnote ${i % 3}\n`).join(""),
      );
      expect((await load(client, "INTO TABLE t", ...parts)).affectedRows).toBe(100_000);
      const [rows] = await client.query("SELECT count(*) AS c, sum(v) AS v, sum(n) AS n FROM t");
      expect(rows).toEqual([{ c: 100_000, v: (100 * 499_500) / 8, n: 100 * 499_500 }] as never);
    }));

  const failure = (work: Promise<unknown>): Promise<readonly [number, string]> =>
    work.then(
      () => [0, ""] as const,
      ({ errno, sqlMessage }: { errno: number; sqlMessage: string }) => [errno, sqlMessage] as const,
    );

  test("what is wrong, and where", () =>
    inTable(COLUMNS, async (client) => {
      const csv = "INTO TABLE t FIELDS TERMINATED BY ',' ENCLOSED BY '\"' IGNORE 1 LINES";
      const [code, text] = await failure(load(client, csv, 'x\na,1,1,1,"1\n2"\nb,2,oops,2,n\nc,3,3,3,n\n'));
      expect(code).toBe(1815);
      expect(text).toContain('"oops" at row 2, line 4, column v');
      expect(await failure(load(client, csv, "x\na,1,1,1,n\nb,2\n"))).toMatchObject([1261, expect.stringContaining("at row 2, line 3")]);
      expect(await failure(load(client, csv, "x\na,1,1,1,n,n\n"))).toMatchObject([1262, expect.stringContaining("at row 1, line 2")]);
      expect(await failure(load(client, csv, 'x\na,1,1,1,"n\n'))).toMatchObject([1262, expect.stringContaining("not closed")]);
      expect(await failure(load(client, "INTO TABLE nowhere", ""))).toMatchObject([1146, expect.any(String)]);
      expect(await failure(load(client, "INTO TABLE t (nothing)", ""))).toMatchObject([1054, expect.any(String)]);
      expect((await client.query("SELECT count(*) AS c FROM t"))[0]).toEqual([{ c: 0 }] as never);
      expect((await load(client, "INTO TABLE t")).affectedRows).toBe(0);
    }));

  test("among several statements, by readers who may not write, and where the client does not allow it", async () => {
    await inTable(
      COLUMNS,
      async (client) => {
        const [results] = await client.query({
          sql: "SELECT 1 AS a; LOAD DATA LOCAL INFILE 'f' INTO TABLE t; SELECT count(*) AS c FROM t",
          infileStreamFactory: () => Readable.from([Buffer.from("a\t1\t1\t1\tx\n")]),
        });
        expect(results).toMatchObject([[{ a: 1 }], { affectedRows: 1 }, [{ c: 1 }]] as never);
        expect(await failure(client.execute("LOAD DATA LOCAL INFILE 'f' INTO TABLE t"))).toMatchObject([1295, expect.any(String)]);
      },
      { multipleStatements: true },
    );
    const client = await MysqlWire.connect(server.port);
    await client.next();
    client.send(answer());
    await client.next();
    client.send(query("LOAD DATA LOCAL INFILE 'f' INTO TABLE t"));
    expect(errorOf((await client.next())!)).toBe(3948);
    client.end();
  });

  test("a client that leaves in the middle, and others go on", async () => {
    await inTable(COLUMNS, async (own) => {
      const client = await MysqlWire.connect(server.port);
      await client.next();
      const allowed = Buffer.from(answer());
      allowed[4] = allowed[4]! | 0x80;
      client.send(allowed);
      await client.next();
      client.send(query("LOAD DATA LOCAL INFILE 'f' INTO TABLE t"));
      expect((await client.next())?.body).toEqual(Buffer.from([0xfb, 0x66]));
      client.send(packet(2, Buffer.from("a\t1\t")));
      client.end();
      await client.closed;
      expect((await own.query("SELECT count(*) AS c FROM t"))[0]).toEqual([{ c: 0 }] as never);
    });
  });

  const CLIENT = Bun.which("mariadb") ?? Bun.which("mysql");

  test.skipIf(CLIENT === null)("the command line", () =>
    inTable(COLUMNS, async (client) => {
      const file = join(tmpdir(), `varve-load-${process.pid}.tsv`);
      await Bun.write(file, "a\t1\t1.5\t2\tsome\nb\t2\t\\N\t3\tother\n");
      const command = [CLIENT ?? "", "-h127.0.0.1", `-P${server.port}`, "-uu", "--skip-ssl", "--local-infile", "-vv", "public"];
      const run = Bun.spawn([...command, "-e", `LOAD DATA LOCAL INFILE '${file}' INTO TABLE t`], { stdout: "pipe", stderr: "pipe" });
      expect(await new Response(run.stdout).text()).toContain("Records: 2  Deleted: 0  Skipped: 0  Warnings: 0");
      expect((await client.query("SELECT h, v FROM t ORDER BY h"))[0]).toEqual([
        { h: "a", v: 1.5 },
        { h: "b", v: null },
      ] as never);
      await Bun.file(file).delete();
    }),
  );
});
