import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { typed } from "../common/password.ts";
import { Refusal } from "../common/refusal.ts";
import { completions } from "./completion.ts";
import { failureText } from "./error-text.ts";
import { stateFolder } from "../common/state-folder.ts";
import { addHistory, HISTORY_MAX, keptLine, readHistory } from "./history.ts";

describe("completion", () => {
  const names = new Map([
    ["cpu", ["ts", "host", "usage_user"]],
    ["Disk IO", ["ts", "read bytes"]],
  ]);
  const check = (line: string, want: readonly string[], before = ""): void => {
    expect(completions(before, line, names)[0]).toEqual([...want]);
  };

  test("commands, keywords in the case that was begun, tables, columns", () => {
    check("\\ti", ["\\timing"]);
    check("\\format v", ["vertical"]);
    check("SELEC", ["SELECT"]);
    check("selec", ["select"]);
    check("select * from c", ["cpu"]);
    check("select * from ", ['"Disk IO"', "cpu"]);
    check("select cpu.u", ["usage_user"]);
    check("select c.h", [], "");
    check("select * from cpu c where c.h", ["host"]);
    check("where usage", ["usage_user"], "select * from cpu\n");
  });

  test("nothing inside of texts and comments", () => {
    check("select 'selec", []);
    check("select 1 -- selec", []);
  });
});

describe("errors", () => {
  const check = (thrown: unknown, text: string, want: string): void => {
    expect(failureText(thrown, { text, line: 3 }, true)).toBe(want);
  };

  test("show the place that the server names, under the line of the whole text", () => {
    const refusal = new Refusal("Invalid: found ','", { status: 400, code: 2000, position: { line: 2, column: 4 } });
    check(refusal, "select 1,\n 2,,3", "line 3: error 2000: Invalid: found ','\n4 |  2,,3\n       ^\n");
  });

  test("show a name that stands there once", () => {
    const refusal = new Refusal("Failed to plan SQL: No field named bb. Valid fields are t.a.", { status: 400, code: 3000 });
    check(refusal, "select bb", `line 3: error 3000: ${refusal.message}\n3 | select bb\n           ^~\n`);
    check(refusal, "select bb, bb", `line 3: error 3000: ${refusal.message}\n`);
    check(new Error("no"), "select 1", "line 3: error: no\n");
  });

  test("cut long lines around the place", () => {
    const text = `${"x".repeat(500)},,${"y".repeat(500)}`;
    const shown = failureText(new Refusal("no", { status: 400, position: { line: 1, column: 502 } }), { text, line: 1 }, false).split("\n");
    expect(shown[1]?.length).toBeLessThan(130);
    expect(shown[1]?.charAt(shown[2]?.indexOf("^") ?? 0)).toBe(",");
    check(new Refusal("no", { status: 400, position: { line: 9, column: 9 } }), "select", "line 3: error: no\n");
  });
});

describe("history", () => {
  test("keeps statements on one line, and none with a password", () => {
    expect(keptLine("select 1,\n  2;")).toBe("select 1, 2;");
    for (const text of [
      "CREATE USER a IDENTIFIED BY 'x'",
      "COPY t TO 's3://b' CONNECTION (secret_access_key='x')",
      "alter user a password 'x'",
      "copy a from 'http://u:p@host/x'",
      `select '${"x".repeat(20_000)}'`,
      "select 1 -- a\n, 2",
      "  ",
    ]) {
      expect(keptLine(text)).toBeUndefined();
    }
  });

  test("is a file of this user alone, of so many lines, to which sessions add", async () => {
    const folder = await mkdtemp(join(tmpdir(), "varve-history-"));
    try {
      const path = join(stateFolder({ XDG_STATE_HOME: folder }) ?? "", "history");
      expect(await readHistory(path)).toEqual([]);
      await addHistory(path, ["select 1;"]);
      await addHistory(path, ["select 2;"]);
      expect(await readHistory(path)).toEqual(["select 1;", "select 2;"]);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      await addHistory(
        path,
        Array.from({ length: HISTORY_MAX + 5 }, (_, i) => `select ${i};`),
      );
      expect((await readHistory(path)).length).toBe(HISTORY_MAX);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("lies where the user's state lies", () => {
    expect(stateFolder({ HOME: "/home/a" })).toBe("/home/a/.local/state/varve");
    expect(stateFolder({ HOME: "/home/a", XDG_STATE_HOME: "relative" })).toBe("/home/a/.local/state/varve");
    expect(stateFolder({})).toBeUndefined();
  });
});

test("a password is typed, corrected and left", () => {
  const type = (keys: string): ReturnType<typeof typed> =>
    [...keys].reduce<ReturnType<typeof typed>>((state, key) => typed(state.password, key), { password: "", ended: "no" });
  expect(type("ab\u007fc\r")).toEqual({ password: "ac", ended: "entered" });
  expect(type("ab\u0015é\n")).toEqual({ password: "é", ended: "entered" });
  expect(type("ab\u0003").ended).toBe("left");
});
