/**
 * Profiles of the running server (contract http.md 1.3, 1.7): where the time of threads goes, and what memory is held by. For accounts
 * that may do everything. GET does what POST does, since `go tool pprof http://…` asks by GET.
 */
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { flameGraph } from "../../../../base/profile/flame-graph.ts";
import {
  isProfiling,
  PROFILE_FREQUENCY_MAX,
  PROFILE_SAMPLES_MAX,
  PROFILE_SECONDS_MAX,
  profileCpu,
} from "../../../../base/profile/cpu-profiler.ts";
import { profileHeap } from "../../../../base/profile/heap-profile.ts";
import { pprofMessage } from "../../../../base/profile/pprof.ts";
import type { Profile } from "../../../../base/profile/profile.ts";
import { ofAllThreads } from "../../../../base/profile/thread-profiles.ts";
import { textReport } from "../../../../base/profile/text-report.ts";
import { readForm } from "../../body/form.ts";
import type { Exchange } from "../../exchange.ts";
import { DEBUG_BODY_BYTES_MAX } from "../../limits.ts";
import type { HttpServerOptions } from "../../options.ts";
import { uniquePairs } from "../../query-string.ts";
import { jsonReply, type Reply, textReply } from "../../reply.ts";
import type { Handler, Route } from "../../router.ts";
import { mayAdminister } from "./administrators.ts";

/** How a profile is shown. */
const OUTPUTS = {
  proto: pprofMessage,
  text: (profile: Profile) => new TextEncoder().encode(textReport(profile)),
  flamegraph: (profile: Profile) => new TextEncoder().encode(flameGraph(profile)),
} as const;

type Output = keyof typeof OUTPUTS;

const CPU_NAMES: ReadonlySet<string> = new Set(["seconds", "frequency", "output"]);
const MEMORY_NAMES: ReadonlySet<string> = new Set(["output"]);
const SECONDS_DEFAULT = 5;
const FREQUENCY_DEFAULT = 99;

/** The routes of this file. */
export function profileRoutes(options: HttpServerOptions): readonly Route[] {
  const heap = { isActive: false };
  const cpu: Handler = mayAdminister(options, (exchange) => answerCpu(exchange, options));
  const memory: Handler = mayAdminister(options, (exchange) => answerMemory(exchange, options, heap.isActive));
  const activate = (isActive: boolean): Handler =>
    mayAdminister(options, () => {
      heap.isActive = isActive;
      return textReply(200, `Heap profiling ${isActive ? "activated" : "deactivated"}`);
    });
  const route = (path: string, methods: Route["methods"]): Route => ({ path: `/debug/prof/${path}`, methods, errors: "plain" });
  return [
    route("cpu", { GET: cpu, POST: cpu }),
    route("mem", { GET: memory, POST: memory }),
    route("mem/status", { GET: mayAdminister(options, () => activeReply(heap.isActive)) }),
    route("mem/activate", { POST: activate(true) }),
    route("mem/deactivate", { POST: activate(false) }),
    route("mem/gdump", {
      GET: mayAdminister(options, () => activeReply(false)),
      POST: mayAdminister(options, (exchange) => gdump(exchange, options)),
    }),
    route("mem/symbol", {
      POST: mayAdminister(options, () => {
        throw new DbError(
          StatusCode.Unsupported,
          "cannot draw a heap dump of jemalloc: the runtime makes none; ask /debug/prof/mem?output=flamegraph",
        );
      }),
    }),
  ];
}

async function answerCpu(exchange: Exchange, options: HttpServerOptions): Promise<Reply> {
  const pairs = uniquePairs(exchange.rawQuery, CPU_NAMES);
  if (!("get" in pairs))
    return unread("tooMany" in pairs ? `more than ${pairs.tooMany} parameters` : `duplicate field \`${pairs.duplicate}\``);
  const output = outputOf(pairs.get("output") ?? "proto");
  const seconds = countOf(pairs.get("seconds"), SECONDS_DEFAULT, PROFILE_SECONDS_MAX);
  const frequency = countOf(pairs.get("frequency"), FREQUENCY_DEFAULT, PROFILE_FREQUENCY_MAX);
  if (output === undefined) return unread(unknownOutput(pairs.get("output")));
  if (typeof seconds === "string") return unread(`seconds: ${seconds}`);
  if (typeof frequency === "string") return unread(`frequency: ${frequency}`);
  if (seconds * frequency > PROFILE_SAMPLES_MAX) return unread(`seconds × frequency: more than ${PROFILE_SAMPLES_MAX} samples`);
  if (isProfiling()) return jsonReply(409, JSON.stringify({ error: "cannot take a profile: another one is being taken" }));
  exchange.setIdleTimeout(0);
  const ask = { seconds, frequency, signal: exchange.signal };
  const others = options.profiledThreads?.profiles(ask) ?? [];
  const [main, rest] = await Promise.all([profileCpu(ask, options.clock), others]);
  return profileReply(ofAllThreads(main, rest), output);
}

function answerMemory(exchange: Exchange, { memory, clock }: HttpServerOptions, hasBytes: boolean): Reply {
  const pairs = uniquePairs(exchange.rawQuery, MEMORY_NAMES);
  if (!("get" in pairs))
    return unread("tooMany" in pairs ? `more than ${pairs.tooMany} parameters` : `duplicate field \`${pairs.duplicate}\``);
  const output = outputOf(pairs.get("output") ?? "text");
  if (output === undefined) return unread(unknownOutput(pairs.get("output")));
  return profileReply(profileHeap(memory, clock, hasBytes), output);
}

function profileReply(profile: Profile, output: Output): Reply {
  const headers = { "content-type": "application/octet-stream", "x-content-type-options": "nosniff" };
  return { status: 200, headers, body: OUTPUTS[output](profile) };
}

/** No dump is made when memory reaches a new peak, so that only "false" can be had. */
async function gdump(exchange: Exchange, options: HttpServerOptions): Promise<Reply> {
  const form = await readForm(exchange, { ...options, bodyBytesMax: DEBUG_BODY_BYTES_MAX }, new Set(["activate"]));
  if ("status" in form) return form;
  const activate = "get" in form ? form.get("activate") : undefined;
  if (activate === "false") return textReply(200, "gdump deactivated");
  if (activate === "true")
    throw new DbError(StatusCode.Unsupported, "cannot dump the heap at each new peak of memory: the runtime has no such dumps");
  return textReply(422, "Failed to deserialize form body: `activate` must be there once, true or false");
}

function activeReply(isActive: boolean): Reply {
  return textReply(200, `{"active": ${isActive}}`);
}

function outputOf(text: string): Output | undefined {
  return Object.hasOwn(OUTPUTS, text) ? (text as Output) : undefined; // one of its own keys
}

function unknownOutput(text: string | undefined): string {
  return `output: unknown variant \`${(text ?? "").slice(0, 64)}\`, expected one of \`proto\`, \`text\`, \`flamegraph\``;
}

/** A whole number from 1 on; or what is wrong with it. */
function countOf(text: string | undefined, otherwise: number, most: number): number | string {
  if (text === undefined) return otherwise;
  if (text === "") return "cannot parse integer from empty string";
  if (!/^\+?\d+$/.test(text)) return "invalid digit found in string";
  const count = Number(text.slice(0, 20));
  return count >= 1 && count <= most ? count : `it must be from 1 to ${most}`;
}

function unread(why: string): Reply {
  return textReply(400, `Failed to deserialize query string: ${why}`);
}
