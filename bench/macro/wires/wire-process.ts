/** Clients of the measurement of wires as processes: a line of JSON in, lines of JSON out. */
import type { WireAddress, WirePlan, WireReport, WireRequest } from "./wire-plan.ts";

const PROGRAM = Bun.fileURLToPath(new URL("./wire-client.ts", import.meta.url));

/** A client that is at work. */
interface RunningClient {
  /** Ends it. @throws Error when it failed; its stderr is this process's */
  stop(): Promise<WireReport>;
}

/** Runs a client to its end. @throws Error when it failed */
export async function runClient(server: WireAddress, plan: WirePlan): Promise<WireReport> {
  const { child, report } = launch(server, plan);
  await child.stdin.end();
  return await report;
}

/** Starts a client that says when it is ready, and waits for that. @throws Error when it failed before */
export async function startClient(server: WireAddress, plan: WirePlan): Promise<RunningClient> {
  const { child, report, firstLine } = launch(server, plan);
  await Promise.race([firstLine, report]);
  return {
    stop: async () => {
      await child.stdin.end();
      return await report;
    },
  };
}

interface Launched {
  readonly child: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly firstLine: Promise<undefined>;
  readonly report: Promise<WireReport>;
}

function launch(server: WireAddress, plan: WirePlan): Launched {
  const child = Bun.spawn([process.execPath, PROGRAM], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const request: WireRequest = { ...plan, server };
  void child.stdin.write(`${JSON.stringify(request)}\n`);
  void child.stdin.flush(); // A client that died is found out by its status.
  const first = Promise.withResolvers<undefined>();
  const read = async (): Promise<WireReport> => {
    let text = "";
    for await (const piece of child.stdout) {
      text += new TextDecoder().decode(piece);
      if (text.includes("\n")) first.resolve(undefined);
    }
    const status = await child.exited;
    if (status !== 0) throw new Error(`cannot ${plan.kind} over ${server.wire}: the client ended with status ${status}`);
    return JSON.parse(text.trim().split("\n").at(-1) ?? "") as WireReport;
  };
  return { child, firstLine: first.promise, report: read() };
}
