/** A thread of long calls of functions. */
import type { ToCallThread } from "./call-messages.ts";
import { CallServer } from "./serve-calls.ts";

declare const self: Worker;

const server = new CallServer();
self.onmessage = ({ data }: MessageEvent<ToCallThread>) => {
  const answer = server.answer(data);
  if (answer !== undefined) self.postMessage(answer);
};
