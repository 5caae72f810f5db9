/** What runs in a server, and what it counts. */
import { queryRows } from "../support/http-client.ts";
import type { TestServer } from "../support/server-process.ts";

const WAIT_MS_MAX = 10_000;
const POLL_MS = 10;

/** Waits. @throws Error with `what` when it takes too long */
export async function until(isTrue: () => Promise<boolean>, what: string): Promise<void> {
  for (const end = performance.now() + WAIT_MS_MAX; !(await isTrue()); await Bun.sleep(POLL_MS)) {
    if (performance.now() > end) throw new Error(`not so after ${WAIT_MS_MAX} ms: ${what}`);
  }
}

/** Numbers of the statements that run, but for the one that asks. */
export async function runningStatements(server: TestServer): Promise<readonly string[]> {
  const { rows } = await queryRows(server.url, "SELECT id FROM information_schema.process_list WHERE query NOT LIKE '%process_list%'");
  return rows.map(([id]) => String(id));
}

/** A figure of `/metrics`, of a cluster that of the first frontend; NaN when it is not there. */
export async function metricOf(server: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.processUrl}/metrics`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}
