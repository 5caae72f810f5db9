/**
 * An import that is stopped and killed again and again: what is in the table at the end is what was in the file, each row once.
 *
 * Rows have a number of their own as a field, so that sums tell a row that is missing and one that is there twice in a table that keeps
 * every row.
 */
import { join, resolve } from "node:path";
import { temporaryFolder, type TestServer } from "../support/server-process.ts";
import { toolRun } from "../support/tool-run.ts";
import { sql } from "../../src/tools/sql/sql.ts";

const MAIN = resolve(import.meta.dir, "../../src/main.ts");
const SERIES = 1000;

/** How it went. */
export interface Resumed {
  readonly kills: number;
  readonly stops: number;
  /** Runs that refused to go on, since rows of a table that keeps every row were in doubt. */
  readonly refusals: number;
  readonly rows: number;
  readonly sum: bigint;
  readonly seconds: number;
}

/** Line protocol of so many rows. */
async function writeLines(path: string, rows: number): Promise<void> {
  const writer = Bun.file(path).writer();
  let text = "";
  for (let i = 0; i < rows; i++) {
    const time = 1_700_000_000_000_000_000n + BigInt(Math.floor(i / SERIES)) * 1_000_000_000n;
    text += `cpu,host=host_${i % SERIES},region=eu-${i % 7} number=${i}i,load=${i / 16},note="row ${i}" ${time}\n`;
    if (text.length < 1 << 20) continue;
    await writer.write(text);
    text = "";
  }
  await writer.write(text);
  await writer.end();
}

/**
 * Imports `rows` rows, killing every second run and stopping the others by Ctrl-C, after `millis` each, until one ends by itself.
 *
 * @param isAppend whether the table keeps every row; rows in doubt are then looked for, and sent only where they are not there
 */
export async function importWithKills(server: TestServer, rows: number, millis: number, isAppend: boolean): Promise<Resumed> {
  const folder = await temporaryFolder();
  const file = join(folder, "rows.lp");
  const began = performance.now();
  const { processUrl } = server; // An import goes on where it is sent to the same address.
  const ask = async (statement: string): Promise<readonly string[]> => {
    const { status, out, err } = await toolRun(sql, ["--url", server.url, statement]);
    if (status !== 0) throw new Error(err);
    return out.trim().split("\n").slice(1);
  };
  try {
    await writeLines(file, rows);
    if (isAppend) {
      await ask(
        "CREATE TABLE cpu (host STRING, region STRING, number BIGINT, load DOUBLE, note STRING, " +
          "greptime_timestamp TIMESTAMP(9) TIME INDEX, PRIMARY KEY (host, region)) WITH ('append_mode' = 'true')",
      );
    }
    let [kills, stops, refusals] = [0, 0, 0];
    let doubt: readonly string[] = [];
    for (let run = 0; ; run++) {
      const args = ["import", "--url", processUrl, "--batch-rows", "2000", ...doubt, file];
      const child = Bun.spawn([process.execPath, "run", MAIN, ...args], {
        env: { ...process.env, XDG_STATE_HOME: join(folder, "state") },
        stdout: "ignore",
        stderr: "pipe",
      });
      const isKill = run % 2 === 0;
      const timer = setTimeout(() => child.kill(isKill ? "SIGKILL" : "SIGINT"), millis + run * 20);
      const said = await child.stderr.text();
      await child.exited;
      clearTimeout(timer);
      doubt = [];
      if (child.exitCode === 0) break;
      if (child.signalCode === "SIGKILL") kills++;
      else if (child.exitCode === 130 || child.signalCode === "SIGINT") stops++;
      else if (isAppend && said.includes("--in-doubt")) {
        refusals++;
        doubt = await settled(said, ask);
      } else throw new Error(`an import ended with ${child.exitCode}: ${said}`);
    }
    const [answer = ""] = await ask("SELECT count(*), sum(number), count(DISTINCT number) FROM cpu");
    const [count, sum, distinct] = answer.split(",");
    if (count !== distinct) throw new Error(`${count} rows, of which ${distinct} differ`);
    return { kills, stops, refusals, rows: Number(count), sum: BigInt(sum ?? 0), seconds: (performance.now() - began) / 1000 };
  } finally {
    await Bun.$`rm -rf ${folder}`.quiet();
  }
}

/** What a person does: looks whether the rows in doubt are there. */
async function settled(said: string, ask: (statement: string) => Promise<readonly string[]>): Promise<readonly string[]> {
  const places = [...said.matchAll(/(\d+) rows from line (\d+) on/g)];
  if (places.length !== 1) throw new Error(`${places.length} pieces are in doubt: ${said}`);
  const [count, line] = [Number(places[0]?.[1]), Number(places[0]?.[2])];
  const [found] = await ask(`SELECT count(*) FROM cpu WHERE number >= ${line - 1} AND number < ${line - 1 + count}`);
  if (Number(found) !== 0 && Number(found) !== count) throw new Error(`a piece of ${count} rows is there in part: ${found}`);
  return ["--in-doubt", Number(found) === count ? "skip" : "send"];
}

/** The sum of the numbers of so many rows. */
export function sumOf(rows: number): bigint {
  return (BigInt(rows) * BigInt(rows - 1)) / 2n;
}
