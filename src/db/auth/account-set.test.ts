import { describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { AccountSet } from "./account-set.ts";
import { CheckQueue } from "./check-queue.ts";
import { parseUserFile } from "./user-file.ts";
import type { AccessMode } from "./user.ts";

const SALT = "73616c74";
const FILE = `alice=secret
reader:ro=secret2
derived:wo=pbkdf2_sha256:4096:${SALT}:c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a
mysql=mysql_native_password:6bb4837eb74329105ee4568dda7dc67ed2ca2ad9
empty=
twice=first
twice=second`;

function setOf(text: string): AccountSet {
  return new AccountSet(parseUserFile(new TextEncoder().encode(text)).accounts);
}

const set: AccountSet = setOf(FILE);

async function check(name: string, password: string, mode: AccessMode): Promise<void> {
  expect(await set.authenticate(name, password)).toEqual({ name, mode });
}

async function checkRefused(name: string, password: string, code: StatusCode, message: string): Promise<void> {
  try {
    await set.authenticate(name, password);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DbError);
    expect(thrown).toMatchObject({ code, message });
    return;
  }
  throw new Error(`accepted ${name}`);
}

describe("logging in", () => {
  test("gives the account with its mode", async () => {
    await check("alice", "secret", "rw");
    await check("reader", "secret2", "ro");
    await check("derived", "password", "wo");
    await check("twice", "second", "rw");
    expect(set.size).toBe(6);
  });

  test("says the same of an unknown name and of a wrong password", async () => {
    const mismatch = "Username and password does not match, username: ";
    await checkRefused("nobody", "secret", StatusCode.UserPasswordMismatch, `${mismatch}nobody`);
    await checkRefused("Alice", "secret", StatusCode.UserPasswordMismatch, `${mismatch}Alice`);
    await checkRefused("alice", "wrong", StatusCode.UserPasswordMismatch, `${mismatch}alice`);
    await checkRefused("derived", "passwort", StatusCode.UserPasswordMismatch, `${mismatch}derived`);
    await checkRefused("mysql", "123456", StatusCode.UserPasswordMismatch, `${mismatch}mysql`);
    await checkRefused("twice", "first", StatusCode.UserPasswordMismatch, `${mismatch}twice`);
    await checkRefused("toString", "x", StatusCode.UserPasswordMismatch, `${mismatch}toString`);
  });

  test("refuses a blank name and a blank password, even where the file has one", async () => {
    await checkRefused("", "x", StatusCode.InvalidArguments, "Illegal param: blank username");
    await checkRefused("empty", "", StatusCode.InvalidArguments, "Illegal param: blank password");
    await checkRefused("nobody", "", StatusCode.InvalidArguments, "Illegal param: blank password");
  });
});

describe("derived passwords", () => {
  test("are accepted again and again, and a success of one login admits no other", async () => {
    const logins = setOf(FILE.replaceAll("alice=secret", `other=pbkdf2_sha256:1:${SALT}:${"00".repeat(32)}`));
    for (let i = 0; i < 3; i++) {
      await logins.authenticate("derived", "password");
      expect(logins.authenticate("derived", "passwort")).rejects.toThrow("does not match");
      expect(logins.authenticate("other", "password")).rejects.toThrow("does not match");
      expect(logins.authenticate("nobody", "password")).rejects.toThrow("does not match");
    }
  });

  test("of many equal logins at once are derived once", async () => {
    const logins = setOf(FILE);
    // More than may wait: they pass because they share one derivation.
    const all = await Promise.all(Array.from({ length: 1000 }, () => logins.authenticate("derived", "password")));
    expect(new Set(all.map((user) => user.name))).toEqual(new Set(["derived"]));
  });

  test("cost every login that fails, so that time tells neither which names there are nor which passwords are plain", async () => {
    const codes = async (name: string): Promise<readonly (StatusCode | 0)[]> => {
      const logins = setOf(`alice=secret\nslow=pbkdf2_sha256:50:${SALT}:${"00".repeat(32)}`);
      const results = await Promise.allSettled(Array.from({ length: 300 }, (_, i) => logins.authenticate(name, `p${i}`)));
      return results.map((result) => (result.status === "rejected" && result.reason instanceof DbError ? result.reason.code : 0));
    };
    // As many as find no room among the derivations: each of the 300 wants one.
    for (const name of ["alice", "slow", "nobody", "somebody"])
      expect([name, (await codes(name)).filter((code) => code === StatusCode.RateLimited).length]).toEqual([name, 43]);
  });

  test("of too many different logins at once are refused with a time to come back", async () => {
    const logins = setOf(`slow=pbkdf2_sha256:50:${SALT}:${"00".repeat(32)}`);
    const results = await Promise.allSettled(Array.from({ length: 300 }, (_, i) => logins.authenticate("slow", `p${i}`)));
    const codes = results.map((result) => (result.status === "rejected" && result.reason instanceof DbError ? result.reason.code : 0));
    expect(codes.filter((code) => code === StatusCode.RateLimited)).toHaveLength(43);
    expect(codes.filter((code) => code === StatusCode.UserPasswordMismatch)).toHaveLength(257);
  });
});

describe("the queue of derivations", () => {
  test("runs as many as it may, the rest in order, and goes on after a failure", async () => {
    const queue = new CheckQueue(2, 3);
    const events: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      events.push(`+${name}`);
      await Promise.resolve();
      events.push(`-${name}`);
      if (name === "a") throw new Error("failed");
    };
    const all = await Promise.allSettled(["a", "b", "c", "d", "e", "f"].map((name) => queue.run(work(name))));
    expect(all.map((result) => result.status)).toEqual(["rejected", "fulfilled", "fulfilled", "fulfilled", "fulfilled", "rejected"]);
    expect(events.filter((event) => event.startsWith("+"))).toEqual(["+a", "+b", "+c", "+d", "+e"]);
    let running = 0;
    for (const event of events) {
      running += event.startsWith("+") ? 1 : -1;
      expect(running).toBeLessThanOrEqual(2);
    }
    await queue.run(work("g"));
    expect(events.at(-1)).toBe("-g");
  });
});
