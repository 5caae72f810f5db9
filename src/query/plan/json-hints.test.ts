import { expect, test } from "bun:test";
import { checkFails } from "../../../test/support/query-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

const fixture = new QueryFixture();
await fixture.sql(`CREATE TABLE logs (ts TIMESTAMP TIME INDEX, j JSON2 (
  trace STRING, user.id BIGINT NOT NULL, "user".name STRING DEFAULT 'it''s nobody', "a.b" BIGINT UNSIGNED,
  http.status BIGINT DEFAULT -1, ms DOUBLE, failed BOOLEAN DEFAULT false,
)) WITH (append_mode = 'true')`);

async function check(query: string, want: readonly (readonly unknown[])[]): Promise<void> {
  const { rows } = await fixture.both(query);
  expect([query, rows as unknown]).toEqual([query, want]);
}

const fails = (query: string, message: string): Promise<void> => checkFails(fixture, query, message);

test("paths have their types, and defaults where documents have nothing", async () => {
  await fixture.sql(`INSERT INTO logs VALUES
    (1, '{"trace":"x","user":{"id":7,"name":"Ann"},"http":{"status":500,"path":"/"},"ms":2,"failed":true,"a.b":1,"more":[1]}'),
    (2, '{"user":{"id":9007199254740993},"ms":1.5,"http":{"status":null}}')`);
  await check('SELECT j.user.id, j.user.name, j.http.status + 1, j.ms, j.failed, j."a.b", j.http.path FROM logs ORDER BY ts', [
    [7, "Ann", 501, 2, true, 1, "/"],
    [9007199254740993n, "it's nobody", 0, 1.5, false, undefined, undefined],
  ]);
  await check("SELECT sum(j.http.status), avg(j.ms), count(*) FILTER (WHERE j.failed) FROM logs", [[499, 1.75, 1]]);
  await check("SELECT l.j.user.id FROM logs AS l WHERE l.j.failed", [[7]]);
});

test("documents that do not fit are refused", async () => {
  const insert = (json: string): string => `INSERT INTO logs VALUES (3, '${json}')`;
  await fails(insert('{"trace":"x"}'), "path user.id is not null");
  await fails(insert('{"user":{"id":"7"}}'), 'path user.id wants Int64, got "7"');
  await fails(insert('{"user":{"id":1.5}}'), "wants Int64");
  await fails(insert('{"user":{"id":9223372036854775808}}'), "wants Int64");
  await fails(insert('{"user":5}'), "wants an object above it, got 5");
  await fails(insert('{"user":{"id":1},"a.b":-1}'), "path a.b wants UInt64");
  await fails(insert('{"user":{"id":1},"failed":"yes"}'), "path failed wants Boolean");
  await fails(insert('{"user":{"id":1},"trace":1}'), "path trace wants String");
});

test("SHOW CREATE TABLE shows them", async () => {
  const [[, text] = []] = (await fixture.sql("SHOW CREATE TABLE logs")).rows;
  expect(String(text)).toContain(
    `"j" JSON2("trace" STRING NULL, "user"."id" BIGINT NOT NULL, "user"."name" STRING NULL DEFAULT 'it''s nobody', ` +
      `"a.b" BIGINT UNSIGNED NULL, "http"."status" BIGINT NULL DEFAULT -1, "ms" DOUBLE NULL, "failed" BOOLEAN NULL DEFAULT false) NULL`,
  );
  await fixture.sql(String(text).replace('"logs"', '"again"'));
  const [[, again] = []] = (await fixture.sql("SHOW CREATE TABLE again")).rows;
  expect(again).toBe(String(text).replace('"logs"', '"again"'));
});

test("types that paths do not have are refused", async () => {
  const create = (hints: string): string => `CREATE TABLE t (ts TIMESTAMP TIME INDEX, j JSON2 (${hints})) WITH (append_mode = 'true')`;
  await fails(create("a INT"), "path a cannot be of type INT");
  await fails(create("a TIMESTAMP(3)"), "use STRING, BIGINT");
  await fails(create("a BIGINT, a STRING"), "a path has one type");
  await fails(create("a.b BIGINT, a STRING"), "the path a begins a.b");
  await fails(create("a BIGINT DEFAULT 'x'"), "Cannot cast string 'x'");
  await fails(create("a BIGINT NOT NULL DEFAULT NULL"), "cannot have NULL as its default");
  await fails(create(""), "expected a path");
  await fails("SELECT '{}'::JSON2(a BIGINT)", "expected");
});
