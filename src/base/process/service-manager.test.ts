import { afterEach, expect, jest, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatagramSocket } from "../../../test/support/datagram-socket.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { silentLogger } from "../log.ts";
import { ServiceManager } from "./service-manager.ts";

afterEach(() => {
  jest.useRealTimers();
});

test.each(["path", "abstract name"])("messages reach a datagram socket by its %s", async (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "varve-notify-"));
  const path = kind === "path" ? join(folder, "s") : `@varve-${process.pid}`;
  const env: Record<string, string | undefined> = { NOTIFY_SOCKET: path, WATCHDOG_USEC: "0", OTHER: "x" };
  using socket = await DatagramSocket.bind(path);
  const manager = ServiceManager.of(env, silentLogger);
  manager?.starting();
  manager?.ready("ready at ü");
  manager?.reloading();
  await socket.has((message) => message.startsWith("RELOADING"));
  const lines = socket.messages;
  expect(lines[0]).toBe("STATUS=starting\nEXTEND_TIMEOUT_USEC=30000000");
  expect(lines[1]).toBe("READY=1\nSTATUS=ready at ü");
  expect(lines[2]).toMatch(/^RELOADING=1\nMONOTONIC_USEC=[1-9]\d+\nSTATUS=/);
  expect(Object.keys(env)).toEqual(["OTHER"]);
  rmSync(folder, { recursive: true });
});

test("nobody is told where nobody asks, or what is named is no such socket", () => {
  const { logger, entries } = recordingLogger();
  expect(ServiceManager.of({}, logger)).toBeUndefined();
  expect(ServiceManager.of({ NOTIFY_SOCKET: "" }, logger)).toBeUndefined();
  expect(entries).toEqual([]);
  for (const path of ["vsock:2:1", "relative", `/${"x".repeat(107)}`]) {
    expect(ServiceManager.of({ NOTIFY_SOCKET: path }, logger)).toBeUndefined();
    expect(entries.at(-1)?.fields).toEqual({ socket: path });
  }
  const manager = ServiceManager.of({ NOTIFY_SOCKET: "/nowhere/at/all" }, logger);
  manager?.ready("x");
  manager?.reloading();
  expect(entries.map(({ message }) => message).slice(3)).toEqual(["the service manager does not take what it is told"]);
});

test("the watchdog is told twice a period, from readiness on; a stop asks for time", () => {
  jest.useFakeTimers();
  const sent: string[] = [];
  const manager = new ServiceManager((text) => sent.push(text) > 0, silentLogger, 1000);
  manager.starting();
  jest.advanceTimersByTime(10_000);
  expect(sent.filter((text) => text.includes("EXTEND_TIMEOUT_USEC=30000000")).length).toBe(3);
  sent.length = 0;
  manager.ready("here");
  jest.advanceTimersByTime(2000);
  expect(sent).toEqual(["READY=1\nSTATUS=here", ...Array.from({ length: 5 }, () => "WATCHDOG=1")]);
  sent.length = 0;
  manager.reloading();
  manager.ready("here");
  manager.stopping();
  jest.advanceTimersByTime(5000);
  expect(sent.filter((text) => text === "WATCHDOG=1").length).toBe(10);
  expect(sent.filter((text) => text.includes("EXTEND")).length).toBe(2);
  expect(sent[2]).toBe("STOPPING=1");
});

test("a watchdog of another process is not ours", async () => {
  const folder = mkdtempSync(join(tmpdir(), "varve-notify-"));
  const path = join(folder, "s");
  const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: "20000", WATCHDOG_PID: String(process.pid + 1) };
  using socket = await DatagramSocket.bind(path);
  const manager = ServiceManager.of(env, silentLogger);
  manager?.ready("x");
  await Bun.sleep(50);
  manager?.stopping();
  await socket.has((message) => message === "STOPPING=1");
  expect(socket.messages.slice(0, 2)).toEqual(["READY=1\nSTATUS=x", "STOPPING=1"]);
  rmSync(folder, { recursive: true });
});
