import { expect, test } from "bun:test";
import { join } from "node:path";

/** What a program prints that says its priority, then gives way on a thread of its own, then says both. */
const PROGRAM = `
import { getPriority } from "node:os";
import { readlinkSync } from "node:fs";
import { isMainThread, Worker, parentPort } from "node:worker_threads";
import { giveWayToClients } from ${JSON.stringify(join(import.meta.dir, "thread-priority.ts"))};
const own = () => getPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)));
if (isMainThread) {
  const worker = new Worker(process.argv[1]);
  worker.on("message", (ofWorker) => { console.log(JSON.stringify([own(), ...ofWorker])); process.exit(0); });
} else {
  const before = own();
  parentPort.postMessage([before, giveWayToClients() ?? "", own()]);
}
`;

test.if(process.platform === "linux")("a thread that gives way is alone in it", async () => {
  const path = join(process.env["TMPDIR"] ?? "/tmp", `varve-priority-${process.pid}.ts`);
  await Bun.write(path, PROGRAM);
  const child = Bun.spawn([process.execPath, path], { stdout: "pipe", stderr: "inherit" });
  const [main, before, failure, after] = JSON.parse(await new Response(child.stdout).text()) as [number, number, string, number];
  await Bun.file(path).delete();
  expect([before, failure]).toEqual([main, ""]);
  expect(after).toBe(Math.max(main, 10));
});
