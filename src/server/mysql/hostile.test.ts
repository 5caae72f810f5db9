/** Clients that break the protocol (`test/support/hostile-suite.ts`). */
import { expect } from "bun:test";
import { testHostileClients } from "../../../test/support/hostile-suite.ts";
import { startMysql } from "../../../test/support/mysql-fixture.ts";
import { answer, command, errorOf, long, MysqlWire, query } from "../../../test/support/mysql-wire.ts";

const execute = (...fields: readonly (string | number | Uint8Array)[]): Buffer => command(0x17, long(1), 0, long(1), ...fields);
const SESSION: readonly Buffer[] = [
  answer(),
  query("SELECT 1; BEGIN"),
  command(2, Buffer.from("public")),
  command(0x16, Buffer.from("SELECT h FROM t WHERE v = ? AND h <> ? AND ts < ?")),
  command(0x18, long(1), 1, 0, Buffer.from("xyz")),
  execute(0, 1, 5, 0, 0xfd, 0, 12, 0, Buffer.alloc(8), 7, 0xe8, 7, 2, 29, 23, 59, 59),
  execute(0b110, 0, Buffer.alloc(8)),
  command(0x1c, long(1), long(10)),
  command(0x1a, long(1)),
  command(4, "t", Buffer.from("%")),
  command(0x1b, 0, 0),
  command(0x0e),
  command(9),
  command(0x1f),
  command(0x11, "other", 0, "public", 33, 0, "mysql_native_password"),
  query("SHOW WARNINGS"),
  command(0x19, long(1)),
  command(1),
];

testHostileClients({
  session: SESSION,
  async start() {
    const server = await startMysql();
    const client = await MysqlWire.start(server.port);
    client.send(query("CREATE TABLE t (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE)"));
    expect((await client.next())?.body[0]).toBe(0);
    client.end();
    return server;
  },
  async understood(port, session) {
    const client = await MysqlWire.connect(port);
    client.send(session);
    const errors: number[] = [];
    for (let found = await client.next(); found !== undefined; found = await client.next())
      if (errorOf(found) !== 0) errors.push(errorOf(found));
    expect(errors).toEqual([1421]); // There are no cursors.
  },
  async stillServes(port) {
    const client = await MysqlWire.start(port);
    client.send(query("SELECT 1"));
    expect((await client.next())?.body).toEqual(Buffer.from([1]));
    client.end();
  },
});
