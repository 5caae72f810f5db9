/** Statements that tools send at connect and while browsing, through a driver: all answer, and those about real tables with real rows. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Glob } from "bun";
import pg from "pg";
import { type PostgresFixture, startPostgres } from "../support/postgres-fixture.ts";

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
  await client.query("INSERT INTO cpu VALUES ('a', '2024-01-01 00:00:00', 1, 2), ('b', '2024-01-01 00:10:00', 60, 2)");
});

afterAll(async () => {
  await client.end();
  expect(server.bugs).toEqual([]);
  await server.stop();
});

/** Statements that rightly have no rows here: there are no extensions, enums, sequences, foreign keys, composite types. */
const EMPTY: ReadonlySet<string> = new Set([
  "connect",
  "application name",
  "has timescaledb",
  "getImportedKeys",
  "composite types",
  "enum types",
  "django sequences",
  "dbeaver enum",
  "pgadmin activity",
  "drizzle-kit indexes of constraints",
]);

/** What some must answer, by name: rows as arrays. */
const ANSWERS: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  "columns of a table": [
    ["host", "string"],
    ["ts", "timestamp(3)"],
    ["v", "double"],
    ["n", "decimal(8, 2)"],
  ],
  getPrimaryKeys: [
    ["public", "public", "cpu", "host", 1, "cpu_pkey"],
    ["public", "public", "cpu", "ts", 2, "cpu_pkey"],
  ],
  "rails primary key": [["host"], ["ts"]],
  "superset view names": [["busy"]],
  "datagrip views": [["v", expect.any(Number), " SELECT host, v FROM cpu WHERE v > 50;"]],
  "psql completion of tables": [["cpu", null]],
  "psql completion of columns": [["host"]],
  "typeorm constraints": [
    ["public", "cpu", "cpu_pkey", "PRIMARY KEY (host, ts)", "PRIMARY", "host"],
    ["public", "cpu", "cpu_pkey", "PRIMARY KEY (host, ts)", "PRIMARY", "ts"],
  ],
};

const folder = import.meta.dir;
for (const file of [...new Glob("*.sql").scanSync(folder)].sort()) {
  const text = await Bun.file(`${folder}/${file}`).text();
  for (const part of text.split(/^--- /m).slice(1)) {
    const end = part.indexOf("\n");
    const name = part.slice(0, end);
    test(`${file}: ${name}`, async () => {
      const { rows } = await client.query<unknown[]>({ text: part.slice(end + 1).trim(), rowMode: "array" });
      const want = ANSWERS[name];
      if (want !== undefined) expect(rows).toEqual(want as unknown[][]);
      else if (!EMPTY.has(name)) expect(rows?.length ?? 0).toBeGreaterThan(0);
    });
  }
}
