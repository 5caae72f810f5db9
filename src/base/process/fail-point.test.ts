import { afterEach, describe, expect, test } from "bun:test";
import { DbError } from "../error.ts";
import { armFailPoints, failPoint, watchFailPoints } from "./fail-point.ts";
import { FAIL_POINTS, type FailPointName } from "./fail-point-names.ts";
import { StatusCode } from "../status-code.ts";

afterEach(() => watchFailPoints(null));

/** What arming answers: the entries as text, or the message of the refusal. */
function check(text: string | undefined, want: string): void {
  let got: string;
  try {
    got = armFailPoints(text)
      .map(({ name, action, hit }) => `${name} ${action} ${hit}`)
      .join(", ");
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    expect(error.code).toBe(StatusCode.InvalidArguments);
    got = error.message;
  }
  expect(got).toBe(want);
}

describe("the variable", () => {
  test("arms nothing when it is absent or empty", () => {
    check(undefined, "");
    check("", "");
    expect(() => failPoint("log.written")).not.toThrow();
  });

  test("arms one point or several, at their first hit or a later one", () => {
    check("log.written=kill", "log.written kill 1");
    check("flush.job-done=pause:3, log.cut=error", "flush.job-done pause 3, log.cut error 1");
  });

  test("is refused with a name, an action or a count that is none", () => {
    check("log.writen=kill", 'cannot arm fail point "log.writen": there is none of that name; is log.written meant?');
    check("toString=kill", 'cannot arm fail point "toString": there is none of that name');
    check("log.written", 'cannot arm fail point "log.written": there is none of that name');
    check("log.written=stop", "cannot arm fail point log.written: its action is one of kill, error, pause; got stop");
    check("log.written=kill:0", "cannot arm fail point log.written: hits count from 1; got 0");
  });
});

describe("a fail point", () => {
  test("does nothing while nobody watches", () => {
    for (const name of Object.keys(FAIL_POINTS)) expect(failPoint(name as FailPointName)).toBeUndefined();
  });

  test("that is armed to fail does so once, at its hit", () => {
    armFailPoints("log.written=error:2");
    failPoint("log.written");
    failPoint("log.synced");
    expect(() => failPoint("log.written")).toThrow("fail point log.written");
    expect(() => failPoint("log.written")).not.toThrow();
  });

  test("tells a watcher its name, and throws what the watcher throws", () => {
    const seen: string[] = [];
    watchFailPoints((name) => {
      seen.push(name);
      if (name === "log.cut") throw new Error("watched");
    });
    failPoint("log.written");
    expect(() => failPoint("log.cut")).toThrow("watched");
    expect(seen).toEqual(["log.written", "log.cut"]);
  });

  test("kills the whole process, also from a worker", async () => {
    for (const inWorker of [false, true]) {
      const module = Bun.fileURLToPath(new URL("./fail-point.ts", import.meta.url));
      const arm =
        `const { armFailPoints, failPoint } = await import(${JSON.stringify(module)}); ` +
        'armFailPoints("log.cut=kill"); failPoint("log.cut");';
      const script = inWorker
        ? `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(arm)}], { type: "text/javascript" }))); setInterval(() => 0, 1000);`
        : `${arm} setInterval(() => 0, 1000);`;
      const child = Bun.spawn([process.execPath, "-e", script], { stdout: "ignore", stderr: "inherit" });
      await child.exited;
      expect(child.signalCode).toBe("SIGKILL");
    }
  });
});
