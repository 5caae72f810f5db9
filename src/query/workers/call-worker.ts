/** A thread of long calls of functions. */
import { RestingHeap } from "../../base/memory/resting-heap.ts";
import type { ToCallThread } from "./call-messages.ts";
import { CallServer } from "./serve-calls.ts";

declare const self: Worker;

/** Heap that the thread may have between two calls: one of texts of 16 MB leaves a gigabyte of garbage. */
const RESTING_HEAP_BYTES_MAX = 64 * 1024 * 1024;

const server = new CallServer();
const resting = new RestingHeap(RESTING_HEAP_BYTES_MAX);
self.onmessage = ({ data }: MessageEvent<ToCallThread>) => {
  const answer = server.answer(data);
  if (answer !== undefined) self.postMessage(answer);
  if (answer?.kind !== "computed") resting.rest(); // What was computed waits to be asked for.
};
