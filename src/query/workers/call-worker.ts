/** The thread of long calls of functions. */
import type { ToCallThread } from "./call-messages.ts";
import { answerCall } from "./serve-calls.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ToCallThread>) => self.postMessage(answerCall(data));
