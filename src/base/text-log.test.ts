/** Log lines as words. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";

const PROGRAM = `
const { textLogWriter } = await import(${JSON.stringify(join(import.meta.dir, "text-log.ts"))});
const { RootLog } = await import(${JSON.stringify(join(import.meta.dir, "log.ts"))});
const log = new RootLog({ level: "info", targets: new Map() }, await textLogWriter(process.argv[1]));
log.logger("wal").warn({ records: 12, text: "a\\nb" }, "replayed the log");
`;

async function printed(format: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = Bun.spawn([process.execPath, "-e", PROGRAM, format], { stderr: "pipe", env: { ...process.env, ...env } });
  const text = await child.stderr.text();
  expect(await child.exited).toBe(0);
  return text;
}

describe("lines", () => {
  test("on a pipe are JSON unless words are asked for, and have no colours", async () => {
    expect(JSON.parse(await printed("auto"))).toMatchObject({ level: "warn", target: "wal", records: 12, msg: "replayed the log" });
    expect(JSON.parse(await printed("json"))).toMatchObject({ target: "wal" });
    expect(await printed("text")).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: wal: replayed the log \{"records":12,"text":"a\\nb"\}\n$/);
  });

  test("on a terminal are words with colours", async () => {
    const command = `${process.execPath} -e '${PROGRAM.replaceAll("'", "'\\''")}' auto`;
    const child = Bun.spawn(["script", "-qec", command, "/dev/null"], { stdout: "pipe", env: { ...process.env, NO_COLOR: "" } });
    const text = await child.stdout.text();
    expect(text).toContain("wal: replayed the log");
    expect(text).toContain("\u001b[");
  });
});
