/**
 * Clients that ask queries, a process of its own: reads one line of JSON from stdin, asks until stdin ends, prints one JSON line.
 *
 *   (echo '{"baseUrl":"http://127.0.0.1:4000","clients":50,"pauseMs":100,"together":1,"kind":"sql","queries":["SELECT 1"]}'; sleep 5) |
 *     bun bench/macro/query-clients.ts
 */
import { sqlBody } from "./sql-client.ts";
import { connectMysql } from "./wires/mysql-link.ts";
import { connectPostgres } from "./wires/postgres-link.ts";
import type { WireLink } from "./wires/wire-link.ts";
import type { WireName } from "./wires/wire-plan.ts";

/** What the clients do. */
export interface ClientsPlan {
  readonly baseUrl: string;
  readonly clients: number;
  /** Milliseconds from one query of a client to its next, the time of the answer included; 0: the next comes at once. */
  readonly pauseMs: number;
  /** Queries that a client asks at one time: one over a wire. */
  readonly together: number;
  /** What queries are: statements, or paths with what they ask for. */
  readonly kind: "sql" | "path";
  /** Statements go over this protocol, each client with a connection of its own; absent: over HTTP. */
  readonly wire?: { readonly name: WireName; readonly port: number };
  /** Each client begins at other ones and goes round. */
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
    const link = plan.wire === undefined ? undefined : await linkTo(plan.wire);
    await Bun.sleep((plan.pauseMs * number) / plan.clients); // Not all at the same moment.
    for (let i = number; !isOver(); i++) {
      const began = performance.now();
      const one = async (_: unknown, at: number): Promise<void> => {
        const started = performance.now();
        const query = plan.queries[(i * plan.together + at) % plan.queries.length] ?? "";
        await (link === undefined ? answerOf(plan, query) : link.query(query));
        askedAtMs.push(performance.timeOrigin + started);
        tookMs.push(performance.now() - started);
      };
      await Promise.all(Array.from({ length: plan.together }, one));
      const ms = performance.now() - began;
      if (ms < plan.pauseMs) await Bun.sleep(plan.pauseMs - ms);
    }
    link?.end();
  };
  await Promise.all(Array.from({ length: plan.clients }, client));
  return { askedAtMs, tookMs };
}

async function linkTo({ name, port }: NonNullable<ClientsPlan["wire"]>): Promise<WireLink> {
  return name === "mysql" ? await connectMysql(port, "root", "public") : await connectPostgres(port, "root", "public", false);
}

/** @throws Error when it is refused */
async function answerOf({ baseUrl, kind }: ClientsPlan, query: string): Promise<void> {
  if (kind === "sql") {
    await sqlBody(baseUrl, query);
    return;
  }
  const response = await fetch(baseUrl + query);
  const text = await response.text();
  if (!response.ok) throw new Error(`cannot ask ${query}: ${response.status} ${text.slice(0, 300)}`);
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
