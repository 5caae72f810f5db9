/** What clients ask about the catalogue: drivers' look-ups of types, and psql's commands where psql is there. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import pg from "pg";
import { type PostgresFixture, startPostgres } from "../../../test/support/postgres-fixture.ts";

let server: PostgresFixture;
let client: pg.Client;

beforeAll(async () => {
  server = await startPostgres();
  client = new pg.Client(server.url);
  await client.connect();
  await client.query(
    `CREATE TABLE cpu (host STRING PRIMARY KEY COMMENT 'which machine', ts TIMESTAMP TIME INDEX, v DOUBLE NOT NULL,
     n DECIMAL(8, 2) DEFAULT 1)`,
  );
  await client.query("CREATE VIEW busy AS SELECT host, v FROM cpu WHERE v > 50");
});

afterAll(async () => {
  await client.end();
  expect(server.bugs).toEqual([]);
  await server.stop();
});

async function check(text: string, want: readonly object[], values?: unknown[]): Promise<void> {
  expect((await client.query(text, values)).rows).toEqual([...want]);
}

test("tables, columns and types", async () => {
  await check(
    `SELECT relname, relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE nspname = 'public' AND relkind <> 'i' ORDER BY 1`,
    [
      { relname: "busy", relkind: "v" },
      { relname: "cpu", relkind: "r" },
      { relname: "numbers", relkind: "r" },
    ],
  );
  await check(
    `SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull, a.attnum FROM pg_catalog.pg_attribute a
     WHERE a.attrelid = 'public.cpu'::pg_catalog.regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [
      { attname: "host", type: "text", attnotnull: false, attnum: 1 },
      { attname: "ts", type: "timestamp without time zone", attnotnull: true, attnum: 2 },
      { attname: "v", type: "double precision", attnotnull: true, attnum: 3 },
      { attname: "n", type: "numeric(8,2)", attnotnull: false, attnum: 4 },
    ],
  );
  await check(
    "SELECT t.oid, t.typname, e.typname AS element FROM pg_type t LEFT JOIN pg_type e ON e.oid = t.typelem WHERE t.oid = ANY($1)",
    [{ oid: 1007, typname: "_int4", element: "int4" }],
    [[1007]],
  );
  await check("SELECT datname FROM pg_database", [{ datname: "greptime" }]);
  await check("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1", [{ tablename: "cpu" }, { tablename: "numbers" }]);
});

test("numbers of relations stay the same", async () => {
  const oid = async (): Promise<unknown> => (await client.query("SELECT 'cpu'::regclass::oid AS oid")).rows[0]?.oid;
  const first = await oid();
  expect(Number(first)).toBeGreaterThanOrEqual(16_384);
  expect(await oid()).toBe(first);
});

test("every relation of pg_catalog can be read", async () => {
  const names = `aggregate am amop amproc attrdef attribute auth_members authid cast class collation constraint conversion database
    db_role_setting default_acl depend description enum event_trigger extension foreign_data_wrapper foreign_server foreign_table index
    inherits init_privs language largeobject largeobject_metadata namespace opclass operator opfamily partitioned_table policy proc
    publication publication_namespace publication_rel range replication_origin rewrite seclabel sequence shdepend shdescription shseclabel
    statistic statistic_ext statistic_ext_data subscription subscription_rel tablespace trigger ts_config ts_dict ts_parser ts_template type
    user_mapping roles settings stat_gssapi tables views matviews stat_user_tables replication_slots`.split(/\s+/);
  expect(names).toHaveLength(69);
  for (const name of names) {
    const { fields } = await client.query(`SELECT * FROM pg_catalog.pg_${name}`);
    expect([name, fields.length]).toEqual([name, expect.any(Number)]);
    expect((await client.query(`SELECT count(*) AS n FROM pg_${name}`)).rows).toHaveLength(1);
  }
});

test("words that clients ask by", async () => {
  await check("SELECT version() AS v, current_setting('server_version_num') AS n", [
    { v: "PostgreSQL 16.3 GreptimeDB 1.3.0", n: "160003" },
  ]);
  await check("SELECT ARRAY(SELECT rolname FROM pg_catalog.pg_roles) AS roles", [{ roles: ["postgres"] }]);
  await check("SELECT nspname FROM pg_namespace WHERE nspname = ANY(current_schemas(true)) ORDER BY 1", [
    { nspname: "greptime_private" },
    { nspname: "information_schema" },
    { nspname: "pg_catalog" },
    { nspname: "public" },
  ]);
  await check("SELECT pg_catalog.pg_size_pretty(pg_catalog.pg_table_size('numbers'::regclass)) AS size", [{ size: "0 bytes" }]);
});

const psqlPath = Bun.which("psql");

describe.skipIf(psqlPath === null)("psql", () => {
  async function psql(...args: readonly string[]): Promise<string> {
    const child = Bun.spawn(
      [psqlPath ?? "", "-X", "-At", "-h", "127.0.0.1", "-p", String(server.port), "-U", "me", "-d", "public", ...args],
      {
        stdout: "pipe",
        stderr: "pipe",
        env: { ...process.env, PGCONNECT_TIMEOUT: "10" },
      },
    );
    const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    await child.exited;
    return (errors + out).trim();
  }

  const run = async (command: string): Promise<string> => psql("-c", command);

  test("lists databases, schemas, tables, views, functions and accounts", async () => {
    expect(await run("\\dt")).toBe("public|cpu|table|postgres\npublic|numbers|table|postgres");
    expect(await run("\\dt+")).toContain("public|cpu|table|postgres|permanent|heap|");
    expect(await run("\\dv")).toBe("public|busy|view|postgres");
    expect(await run("\\d")).toContain("public|busy|view|postgres");
    expect(await run("\\l")).toContain("greptime|postgres|UTF8");
    expect(await run("\\dn")).toBe("greptime_private|postgres\npublic|postgres");
    expect(await run("\\du")).toContain("postgres|Superuser");
    expect(await run("\\df")).toBe("");
    expect(await run("\\dfS abs")).toContain("pg_catalog|abs|bigint|bigint|func");
    expect(await run("\\doS ~")).toContain("pg_catalog|~|text|text|boolean|matches regular expression");
    expect(await run("\\di")).toBe("public|cpu_pkey|index|postgres|cpu\npublic|cpu_time_index|index|postgres|cpu");
    expect(await run("\\sv busy")).toBe("CREATE OR REPLACE VIEW public.busy AS\n SELECT host, v FROM cpu WHERE v > 50");
    expect(await run("\\sf abs(bigint)")).toContain("CREATE OR REPLACE FUNCTION pg_catalog.abs(bigint)");
    const commands = String.raw`\ds \dm \dT \dTS \dx \dX \dX+ \db+ \dp \z \do \dC+ \dd \dL \dLS \dAc \dAf \dAo \dAp
      \dA+ \da \daS \des+ \det+ \deu+
      \dew+ \dRp+ \dRs+ \dD+ \dF+ \dFd+ \dFp+ \dFt+ \dO+ \dy+ \dc+ \ddp \dE+ \drds \dP+ \dg+ \dn+ \l+ \dv+ \di+ \df+ \dconfig+ \lo_list`;
    // One connection: psql goes on behind an error.
    const file = `${process.env["TMPDIR"] ?? "/tmp"}/varve-psql-commands-${process.pid}.sql`;
    await Bun.write(file, commands.trim().split(/\s+/).join("\n"));
    expect(await psql("-f", file)).not.toContain("ERROR");
    await Bun.file(file).delete();
  });

  test("describes a table", async () => {
    expect(await run("\\d cpu")).toBe(
      "host|text|||\nts|timestamp without time zone||not null|\nv|double precision||not null|\nn|numeric(8,2)|||1.00",
    );
    const whole = await psql("-F", "|", "-P", "tuples_only=off", "-c", "\\d+ cpu");
    expect(whole).toContain('"cpu_pkey" PRIMARY KEY, btree (host, ts)');
    expect(whole).toContain("|which machine");
    expect(await run("\\d nothing")).toContain("Did not find any relation");
  });

  test("errors show where they are; statements of a file run in turn", async () => {
    expect(await run("SELECT 1 FRM x")).toContain("LINE 1: SELECT 1 FRM x");
    const file = `${process.env["TMPDIR"] ?? "/tmp"}/varve-psql-${process.pid}.sql`;
    await Bun.write(
      file,
      "\\set ON_ERROR_STOP on\nBEGIN;\nINSERT INTO cpu VALUES ('f', '2024-01-01 00:00:00', 1, 2);\nCOMMIT;\nSELECT count(*) FROM cpu;\n",
    );
    expect(await psql("-q", "-f", file)).toEndWith("\n1");
    await Bun.file(file).delete();
  });
});
