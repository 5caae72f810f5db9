import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DbError } from "../../base/error.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { UserProvider } from "./user.ts";
import { createUserProvider } from "./user-provider.ts";
import { AccountFile } from "./account-file.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "varve-auth-"));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A log that can be waited on; every line is kept. */
function recorder(): { readonly logger: Logger; readonly lines: string[]; until(text: string): Promise<void> } {
  const lines: string[] = [];
  const waiting: { readonly text: string; readonly resolve: () => void }[] = [];
  const write = (fields: Readonly<Record<string, unknown>>, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
    for (const waiter of waiting) if (lines.at(-1)?.includes(waiter.text)) waiter.resolve();
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  const until = (text: string): Promise<void> => new Promise((resolve) => waiting.push({ text, resolve }));
  return { logger, lines, until };
}

/** Checks the text of a provider that does not start. */
function checkRefused(spec: string, message: string): void {
  try {
    createUserProvider(spec, silentLogger);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DbError);
    expect(thrown).toMatchObject({ code: StatusCode.InvalidArguments, message });
    expect(String(thrown)).not.toContain("secret");
    return;
  }
  throw new Error(`accepted ${spec}`);
}

async function names(provider: UserProvider, ...logins: readonly (readonly [string, string])[]): Promise<readonly boolean[]> {
  const results = await Promise.allSettled(logins.map(([name, password]) => provider.authenticate(name, password)));
  return results.map((result) => result.status === "fulfilled");
}

describe("a provider string", () => {
  test("holds accounts", async () => {
    const provider = createUserProvider("static_user_provider:cmd:alice=secret,bob:ro=plain:x y", silentLogger);
    expect(await provider.authenticate("alice", "secret")).toEqual({ name: "alice", mode: "rw" });
    expect(await provider.authenticate("bob", "x y")).toEqual({ name: "bob", mode: "ro" });
    expect(provider.describe()).toBe("static_user_provider:cmd:alice=***,bob:ro=***");
    provider.close();
  });

  test("names a file that is read once", async () => {
    const path = join(folder(), "users:1.txt");
    writeFileSync(path, "alice=secret\nbad line secret\n");
    const { logger, lines } = recorder();
    const provider = createUserProvider(`static_user_provider:file:${path}`, logger);
    writeFileSync(path, "bob=secret");
    expect(await names(provider, ["alice", "secret"], ["bob", "secret"])).toEqual([true, false]);
    expect(provider.describe()).toBe(`static_user_provider:file:${path}`);
    expect(lines).toEqual([expect.stringContaining('"lines":[2]')]);
    expect(lines.join()).not.toContain("secret");
  });

  test("is refused with the text that clients know, and without its passwords", () => {
    const start = "Invalid config value: ";
    const format = "must be in format `<option>:<value>`";
    checkRefused("static_user_provider", `${start}static_user_provider, UserProviderOption ${format}`);
    checkRefused("secret", `${start}***, UserProviderOption ${format}`);
    checkRefused("alice=secret", `${start}alice=***, UserProviderOption ${format}`);
    checkRefused("ldap:secret", `${start}ldap, Invalid UserProviderOption`);
    checkRefused("static_user_provider:cmd", `${start}cmd, StaticUserProviderOption ${format}`);
    checkRefused("static_user_provider:alice=secret", `${start}alice=***, StaticUserProviderOption ${format}`);
    const mode = "StaticUserProviderOption must be in format `file:<path>` or `cmd:<values>`";
    checkRefused("static_user_provider:env:X", `${start}env, ${mode}`);
    checkRefused("static_user_provider:alice=secret:x", `${start}alice=***, ${mode}`);
    const cmd = "StaticUserProviderOption cmd values must be in format `user=pwd[,user=pwd]`";
    checkRefused("static_user_provider:cmd:alice=secret,secret", `${start}***, ${cmd}`);
    checkRefused("static_user_provider:cmd:alice=sec=ret", `${start}alice=***, ${cmd}`);
    checkRefused("static_user_provider:cmd:alice:xx=secret", `${start}alice:xx=***, ${cmd}`);
    checkRefused("static_user_provider:cmd:alice=pbkdf2_sha256:secret", `${start}alice=***, ${cmd}`);
    checkRefused("static_user_provider:cmd:", `${start}***, ${cmd}`);
  });

  test("with a bad file is refused", () => {
    const dir = folder();
    const empty = join(dir, "empty");
    writeFileSync(empty, "# nobody\nsecret\n");
    const large = join(dir, "large");
    writeFileSync(large, "alice=secret\n");
    truncateSync(large, 4 * 1024 * 1024 + 1);
    for (const provider of ["static_user_provider:file:", "watch_file_user_provider:"]) {
      checkRefused(`${provider}${dir}/none`, `Invalid config value: ${dir}/none, UserProvider file must exist`);
      checkRefused(`${provider}${dir}`, `Invalid config value: ${dir}, UserProvider file must be a file`);
      checkRefused(`${provider}${large}`, `Invalid config value: ${large}, UserProvider file must not be larger than 4MiB`);
      checkRefused(
        `${provider}${empty}`,
        `Invalid config value: ${empty}, UserProvider's file must contains at least one valid credential`,
      );
    }
  });
});

describe("a watched file", () => {
  /** Opens a provider on a new file; the poll is long, so that events alone must do, unless `pollMs` is given. */
  function open(path: string, pollMs = 60_000): { provider: AccountFile; log: ReturnType<typeof recorder> } {
    writeFileSync(path, "alice=secret\n");
    const log = recorder();
    const provider = AccountFile.open(path, log.logger, { pollMs });
    cleanups.push(() => provider.close());
    return { provider, log };
  }

  /** Makes a change and waits until the log tells of it. */
  async function after(log: ReturnType<typeof recorder>, text: string, change: () => void): Promise<void> {
    const told = log.until(text);
    change();
    await told;
  }

  test("is read again when it is written, replaced, or made anew", async () => {
    const path = join(folder(), "users");
    const { provider, log } = open(path);
    expect(provider.describe()).toBe(`watch_file_user_provider:${path}`);
    await after(log, "reloaded", () => writeFileSync(path, "bob=secret"));
    expect(await names(provider, ["alice", "secret"], ["bob", "secret"])).toEqual([false, true]);
    await after(log, "reloaded", () => {
      writeFileSync(`${path}.new`, "carol=secret");
      renameSync(`${path}.new`, path);
    });
    expect(await names(provider, ["bob", "secret"], ["carol", "secret"])).toEqual([false, true]);
    await after(log, "cannot use the account file", () => rmSync(path));
    expect(await names(provider, ["carol", "secret"])).toEqual([true]);
    await after(log, "reloaded", () => writeFileSync(path, "dave=secret"));
    expect(await names(provider, ["carol", "secret"], ["dave", "secret"])).toEqual([false, true]);
    expect(log.lines.join()).not.toContain("secret");
  });

  test("keeps the last good accounts while it is empty or without a valid line", async () => {
    const path = join(folder(), "users");
    const { provider, log } = open(path);
    await after(log, "it has no valid line", () => writeFileSync(path, ""));
    expect(await names(provider, ["alice", "secret"])).toEqual([true]);
    await after(log, "reloaded", () => writeFileSync(path, "no account\nbob=secret"));
    expect(await names(provider, ["alice", "secret"], ["bob", "secret"])).toEqual([false, true]);
  });

  test("is found behind a symbolic link that moves, and in a folder that is made anew", async () => {
    const dir = folder();
    mkdirSync(join(dir, "one"));
    mkdirSync(join(dir, "two"));
    writeFileSync(join(dir, "two", "users"), "bob=secret");
    const path = join(dir, "current", "users");
    symlinkSync("one", join(dir, "current"));
    const { provider, log } = open(path, 10);
    await after(log, "reloaded", () => {
      symlinkSync("two", join(dir, "next"));
      renameSync(join(dir, "next"), join(dir, "current"));
    });
    expect(await names(provider, ["alice", "secret"], ["bob", "secret"])).toEqual([false, true]);
    await after(log, "cannot use the account file", () => rmSync(join(dir, "two"), { recursive: true }));
    await after(log, "reloaded", () => {
      mkdirSync(join(dir, "two"));
      writeFileSync(path, "carol=secret");
    });
    expect(await names(provider, ["carol", "secret"])).toEqual([true]);
  });

  test("says once, not at every reading, that it cannot be used", async () => {
    const path = join(folder(), "users");
    const { provider, log } = open(path, 1);
    await after(log, "cannot use the account file", () => rmSync(path));
    // Two more changes of the folder make further readings certain before the last one is told.
    await after(log, "it has no valid line", () => writeFileSync(path, "#"));
    expect(log.lines.filter((line) => line.includes("no such file")).length).toBe(1);
    expect(await names(provider, ["alice", "secret"])).toEqual([true]);
  });
});
