/**
 * The flush worker's thread: jobs in, file descriptions out, one at a time in the order they came.
 */
import { toDbError } from "../../base/error.ts";
import { localFileStore } from "../file-store/local-file-store.ts";
import { flushChunks } from "./flush.ts";
import type { FlushReply, FlushRequest } from "./flush-executor.ts";

declare const self: Worker;

let last: Promise<void> = Promise.resolve();

self.onmessage = (event: MessageEvent<FlushRequest>) => {
  last = last.then(() => run(event.data));
};

async function run(request: FlushRequest): Promise<void> {
  let reply: FlushReply;
  try {
    reply = { id: request.id, files: await flushChunks(request.job, localFileStore(request.root)) };
  } catch (error) {
    const failure = toDbError(error);
    reply = { id: request.id, error: failure.message, code: failure.code };
  }
  self.postMessage(reply);
}
