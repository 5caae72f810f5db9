/** Who finds the server ready may go on to every protocol: none is refused. */
import { connect } from "node:net";
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../bench/macro/free-port.ts";
import { type Ending, launchVarve, temporaryFolder } from "../support/server-process.ts";

const STARTS = 3;
const STARTS_MS_MAX = 60_000;

/** Why a port cannot be connected to; undefined: it can. */
function refusal(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on("error", (error) => resolve(error.message));
  });
}

/** Whether `/ready` says so; it does not, either, while nobody listens. */
function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** One start on ports that were free a moment ago. False: somebody else took one before the server did, so that it ended. */
async function refusesNobody(): Promise<boolean> {
  const folder = await temporaryFolder();
  const [http, grpc, mysql, postgres] = [freePort(), freePort(), freePort(), freePort()];
  const env = {
    VARVE__GRPC__BIND_ADDR: `127.0.0.1:${grpc}`,
    VARVE__MYSQL__ADDR: `127.0.0.1:${mysql}`,
    VARVE__POSTGRES__ADDR: `127.0.0.1:${postgres}`,
  };
  const server = launchVarve(["--http-addr", `127.0.0.1:${http}`, "--data-home", join(folder, "data")], env);
  let ending: Ending | undefined;
  const ended = server.ended().then((how) => (ending = how));
  try {
    while (ending === undefined && !(await isReady(http))) await Bun.sleep(1);
    if (ending !== undefined) {
      expect(ending.stderr).toContain("cannot listen on");
      return false;
    }
    expect(await Promise.all([grpc, mysql, postgres].map(refusal))).toEqual([undefined, undefined, undefined]);
    return true;
  } finally {
    server.signal("SIGTERM");
    await ended;
    await rm(folder, { recursive: true });
  }
}

test(
  "once /ready answers, MySQL, PostgreSQL and gRPC listen",
  async () => {
    for (let start = 0; start < STARTS; ) if (await refusesNobody()) start++;
  },
  STARTS_MS_MAX,
);
