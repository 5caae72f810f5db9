/**
 * Clients that ask point queries, a process of its own: reads one line of JSON from stdin, asks until stdin ends, prints one JSON line.
 *
 *   (echo '{"baseUrl":"http://127.0.0.1:4000","clients":50,"pauseMs":100,"queries":["SELECT 1"]}'; sleep 5) |
 *     bun bench/macro/query-clients.ts
 */
import { sqlBody } from "./sql-client.ts";

/** What the clients do. */
export interface ClientsPlan {
  readonly baseUrl: string;
  readonly clients: number;
  /** Milliseconds from one query of a client to its next, the time of the answer included; 0: the next comes at once. */
  readonly pauseMs: number;
  /** Each client begins at another one and goes round. */
  readonly queries: readonly string[];
}

/** What they saw: the queries in the order of their answers. */
export interface ClientsReport {
  /** When each was asked, in milliseconds since 1970. */
  readonly askedAtMs: readonly number[];
  readonly tookMs: readonly number[];
}

/** Clients that are asking. */
export interface RunningClients {
  /** Ends them. @throws Error when a query failed */
  stop(): Promise<ClientsReport>;
}

/** Starts the clients in a process of their own. */
export function startClients(plan: ClientsPlan): RunningClients {
  const path = Bun.fileURLToPath(new URL("./query-clients.ts", import.meta.url));
  const child = Bun.spawn([process.execPath, path], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  void child.stdin.write(`${JSON.stringify(plan)}\n`);
  void child.stdin.flush(); // The pipe takes some kilobytes at once; a child that died is found out by `stop`.
  return {
    stop: async () => {
      await child.stdin.end();
      const output = await new Response(child.stdout).text();
      const status = await child.exited;
      if (status !== 0) throw new Error(`cannot ask queries: the clients ended with status ${status}`);
      return JSON.parse(output) as ClientsReport;
    },
  };
}

/** Asks until `isOver`. */
async function ask(plan: ClientsPlan, isOver: () => boolean): Promise<ClientsReport> {
  const askedAtMs: number[] = [];
  const tookMs: number[] = [];
  const client = async (_: unknown, number: number): Promise<void> => {
    await Bun.sleep((plan.pauseMs * number) / plan.clients); // Not all at the same moment.
    for (let i = number; !isOver(); i++) {
      const started = performance.now();
      await sqlBody(plan.baseUrl, plan.queries[i % plan.queries.length] ?? "");
      const ms = performance.now() - started;
      askedAtMs.push(performance.timeOrigin + started);
      tookMs.push(ms);
      if (ms < plan.pauseMs) await Bun.sleep(plan.pauseMs - ms);
    }
  };
  await Promise.all(Array.from({ length: plan.clients }, client));
  return { askedAtMs, tookMs };
}

if (import.meta.main) {
  let isOver = false;
  let text = "";
  let asked: Promise<ClientsReport> | undefined;
  for await (const piece of Bun.stdin.stream()) {
    text += new TextDecoder().decode(piece);
    if (text.includes("\n")) asked ??= ask(JSON.parse(text) as ClientsPlan, () => isOver);
  }
  isOver = true;
  process.stdout.write(`${JSON.stringify(await asked)}\n`);
}
