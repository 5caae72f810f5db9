/** Clients of the measurement of wires as processes: a line of JSON in, lines of JSON out. */
import type { WireAddress, WirePlan, WireReport, WireRequest } from "./wire-plan.ts";

const PROGRAM = Bun.fileURLToPath(new URL("./wire-client.ts", import.meta.url));

/** A client that is at work. */
interface RunningClient {
  /** Ends it. @throws Error when it failed; its stderr is this process's */
  stop(): Promise<WireReport>;
}

/**
 * Seconds that a client may take, beside those that it is told to ask for. Reason: a million rows by INSERT take a minute or two of a busy
 * machine; what takes longer waits for an answer that does not come.
 */
const CLIENT_SECONDS_MAX = 300;

/** Runs a client to its end. @throws Error when it failed, or did not end in time, which says what it was to do */
export async function runClient(server: WireAddress, plan: WirePlan, secondsMax: number = CLIENT_SECONDS_MAX): Promise<WireReport> {
  const { child, report } = launch(server, plan);
  const seconds = secondsMax + ("seconds" in plan ? plan.seconds : 0);
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, seconds * 1000);
  await child.stdin.end();
  try {
    return await report;
  } catch (thrown) {
    if (!isLate) throw thrown;
    throw new Error(`cannot ${plan.kind} over ${server.wire}, port ${server.port}: no end within ${seconds} s; it waits for an answer`, {
      cause: thrown,
    });
  } finally {
    clearTimeout(late);
  }
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
