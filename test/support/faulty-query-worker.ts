/** A query worker that misbehaves in a part of a table whose name says how. */
import "../../src/query-worker.ts";
import type { ToQueryWorker } from "../../src/query/workers/messages.ts";
import type { ScanSnapshot } from "../../src/storage/share/scan-snapshot.ts";

declare const self: Worker;

const serve = self.onmessage;
const tables = new Map<number, string>();

self.onmessage = (event: MessageEvent<ToQueryWorker>) => {
  const { data } = event;
  if (data.kind === "open") tables.set(data.fragment, (data.job.snapshot as ScanSnapshot).schema.name);
  if (data.kind === "pull" && misbehaves(tables.get(data.fragment) ?? "")) return;
  serve?.call(self, event);
};

/** Whether it was told to; then nothing answers. */
function misbehaves(table: string): boolean {
  switch (table) {
    case "throws":
      throw new Error("it was told to throw");
    case "rejects":
      void Promise.reject(new Error("it was told to reject"));
      return true;
    case "exits":
      process.exit(7); // Never returns.
    case "loops":
      for (;;) Atomics.load(new Int32Array(1), 0);
    default:
      return false;
  }
}
