/** A thread that reads a plan and says of which kind it is. */
import { NO_TABLES } from "../../../plan-format/plan-reader.ts";
import { decodePlan } from "../plan-bytes.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<Uint8Array>) => self.postMessage(decodePlan(data, NO_TABLES).kind);
