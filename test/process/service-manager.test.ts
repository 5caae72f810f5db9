/** A real process under a service manager: ready when all listeners are, alive, reloading, stopping; deploy/varve.service says so. */
import { expect } from "bun:test";
import { join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { DatagramSocket } from "../support/datagram-socket.ts";
import { TestServer, temporaryFolder } from "../support/server-process.ts";

const WATCHDOG_MS = 200;

standalone("one process has the manager's ear").test(
  "READY when every listener answers, WATCHDOG from the event loop, RELOADING and READY, STOPPING",
  async () => {
    const folder = await temporaryFolder();
    using socket = await DatagramSocket.bind(join(folder, "notify"));
    const env = { NOTIFY_SOCKET: join(folder, "notify"), WATCHDOG_USEC: String(WATCHDOG_MS * 1000) };
    await using server = await TestServer.start({ env, config: "[ingest]\nthreads = 2\n" }, folder);
    await socket.has((message) => message.startsWith("READY=1"));
    const { messages } = socket;
    expect(messages[0]).toStartWith("STATUS=starting\nEXTEND_TIMEOUT_USEC=");
    const ready = messages.findIndex((message) => message.startsWith("READY=1"));
    expect(messages.slice(0, ready).some((message) => /READY|WATCHDOG/.test(message))).toBe(false);
    expect(messages[ready]).toBe(`READY=1\nSTATUS=ready at ${server.url}`);
    for (const address of [server.grpcAddress, server.mysqlAddress, server.postgresAddress]) expect(address).not.toBe("");
    const before = messages.length;
    await Bun.sleep(WATCHDOG_MS * 5);
    expect(messages.slice(before).filter((message) => message === "WATCHDOG=1").length).toBeGreaterThanOrEqual(2); // 10 at rest
    messages.length = 0;
    server.running.signal("SIGHUP");
    await socket.has((message) => message.startsWith("READY=1"));
    const words = messages.filter((message) => message !== "WATCHDOG=1");
    expect(words.map((message) => message.split("=")[0])).toEqual(["RELOADING", "READY"]);
    messages.length = 0;
    server.running.signal("SIGSTOP");
    await Bun.sleep(50);
    messages.length = 0;
    await Bun.sleep(WATCHDOG_MS * 2);
    expect(messages).toEqual([]);
    server.running.signal("SIGCONT");
    expect((await server.stop()).status).toBe(0);
    await socket.has((message) => message === "STOPPING=1");
    expect(messages.filter((message) => message.startsWith("READY"))).toEqual([]);
  },
  30_000,
);
