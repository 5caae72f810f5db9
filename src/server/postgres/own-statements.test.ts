import { expect, test } from "bun:test";
import { type OwnStatement, ownStatement } from "./own-statements.ts";

const CASES: readonly (readonly [text: string, want: OwnStatement | undefined])[] = [
  ["begin", { kind: "begin", tag: "BEGIN" }],
  ["BEGIN ISOLATION LEVEL SERIALIZABLE", { kind: "begin", tag: "BEGIN" }],
  ["START TRANSACTION READ ONLY", { kind: "begin", tag: "START TRANSACTION" }],
  ["commit and chain", { kind: "commit" }],
  ["END", { kind: "commit" }],
  ["ROLLBACK /* to */ TO SAVEPOINT a", { kind: "savepoint", tag: "ROLLBACK" }],
  ["ABORT", { kind: "rollback" }],
  ["SAVEPOINT a", { kind: "savepoint", tag: "SAVEPOINT" }],
  ["RELEASE SAVEPOINT a", { kind: "savepoint", tag: "RELEASE" }],
  ["SET TRANSACTION READ ONLY", { kind: "done", tag: "SET" }],
  ["SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", { kind: "done", tag: "SET" }],
  ["SET application_name = 'it''s'", { kind: "keep", name: "application_name", value: "it's" }],
  ["SET LOCAL extra_float_digits TO 3", { kind: "keep", name: "extra_float_digits", value: "3" }],
  ["SET row_security = off", { kind: "keep", name: "row_security", value: "off" }],
  ["SET my.own TO DEFAULT", { kind: "keep", name: "my.own", value: undefined }],
  ["SET NAMES 'utf8'", { kind: "instead", text: "SET client_encoding = 'utf8'", tag: "SET" }],
  ["SET TIME ZONE 'UTC'", undefined],
  ["SET datestyle TO 'ISO'", undefined],
  ["SET unknown_thing = 1", undefined],
  ["SHOW TimeZone", { kind: "show", name: "timezone" }],
  ["SHOW TIME ZONE", { kind: "show", name: "TimeZone" }],
  ["SHOW transaction isolation level", { kind: "show", name: "transaction_isolation" }],
  ["SHOW ALL", { kind: "show", name: "all" }],
  ["SHOW TABLES", undefined],
  ["RESET ALL", { kind: "reset-all", tag: "RESET" }],
  ["RESET datestyle", { kind: "instead", text: "SET datestyle = DEFAULT", tag: "RESET" }],
  ["RESET application_name", { kind: "keep", name: "application_name", value: undefined }],
  ["DISCARD ALL", { kind: "reset-all", tag: "DISCARD ALL" }],
  ["DISCARD TEMP", { kind: "done", tag: "DISCARD TEMP" }],
  ['DEALLOCATE PREPARE "A b"', { kind: "deallocate", name: "A b" }],
  ["DEALLOCATE ALL", { kind: "deallocate", name: undefined }],
  ["CLOSE ALL", { kind: "close-all" }],
  ["CLOSE c", undefined],
  ["UNLISTEN *", { kind: "done", tag: "UNLISTEN" }],
  ["DECLARE c CURSOR FOR SELECT 1", undefined],
  ['DECLARE "c" NO SCROLL CURSOR WITHOUT HOLD FOR SELECT 1', { kind: "instead", text: 'DECLARE "c" CURSOR FOR SELECT 1' }],
  ["FETCH FORWARD 10 FROM c", { kind: "instead", text: "FETCH 10 FROM c" }],
  ['FETCH ALL IN "c"', { kind: "instead", text: 'FETCH 9007199254740991 FROM "c"' }],
  ["FETCH c", { kind: "instead", text: "FETCH 1 FROM c" }],
  ["SELECT 1", undefined],
];

for (const [text, want] of CASES) test(`knows ${text}`, () => expect(ownStatement(text)).toEqual(want));

test("what is refused is refused by name", () => {
  for (const text of [
    "LISTEN a",
    "NOTIFY a",
    "SET ROLE x",
    "SET SESSION AUTHORIZATION x",
    "SET server_version = '1'",
    "COMMIT PREPARED 'x'",
    "PREPARE p (int) AS SELECT $1",
    "EXECUTE p(1)",
  ])
    expect(() => ownStatement(text)).toThrow();
});

test("long texts take no longer than they are long", () => {
  for (const text of [`SET a = ${" ".repeat(100_000)}`, `DECLARE c ${"scroll ".repeat(20_000)}`, `FETCH ${" ".repeat(100_000)}`])
    ownStatement(text);
});
