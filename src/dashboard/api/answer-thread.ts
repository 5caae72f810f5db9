/** The thread that fetches answers and holds the latest: see `answer-store.ts`. */
import type { AnswerHead, FetchAsk, FromAnswers, ToAnswers } from "./answer-messages.ts";
import { AnswerStore } from "./answer-store.ts";
import { readPrometheus, readSql } from "./read-answer.ts";

/** A longer answer cannot be a text of the browser. */
const BYTES_MAX = 400 * 2 ** 20;

/** The part of a worker's global that is used. */
interface WorkerScope {
  postMessage(message: FromAnswers, transfer?: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToAnswers>) => void): void;
}

const scope = self as unknown as WorkerScope;
let store = new AnswerStore([], []);
let running: AbortController | undefined;

class Refused extends Error {
  readonly status: number;
  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
  }
}

scope.addEventListener("message", ({ data }) => {
  if (data.kind === "cancel") running?.abort();
  else void answer(data);
});

async function answer(message: Exclude<ToAnswers, { kind: "cancel" }>): Promise<void> {
  const { id } = message;
  try {
    const [value, transfer] = await work(message);
    scope.postMessage({ id, kind: "done", value }, transfer);
  } catch (error) {
    const isCancelled = error instanceof DOMException && error.name === "AbortError";
    const reason = isCancelled ? "cancelled" : error instanceof Error ? error.message : String(error);
    scope.postMessage({ id, kind: "failed", status: error instanceof Refused ? error.status : 0, reason });
  }
}

async function work(message: Exclude<ToAnswers, { kind: "cancel" }>): Promise<[value: unknown, transfer: Transferable[]]> {
  switch (message.kind) {
    case "fetch":
      return [await fetchAnswer(message.ask), []];
    case "rows":
      return [store.window(message.from, message.to), []];
    case "sort":
      store.sort(message.column, message.descending);
      return [undefined, []];
    case "chart": {
      const data = store.chart(message.ask);
      return [data, [data.x.buffer, ...data.lines.map(({ y }) => y.buffer)]];
    }
    case "csv":
      return [new Blob([...store.csv()], { type: "text/csv;charset=utf-8" }), []];
  }
}

async function fetchAnswer({ path, body, headers, form }: FetchAsk): Promise<AnswerHead> {
  running?.abort();
  const own = new AbortController();
  running = own;
  const started = performance.now();
  store = new AnswerStore([], []); // The memory of the last answer is free before the next comes.
  const response = await fetch(path, {
    method: "POST",
    body,
    headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
    signal: own.signal,
    credentials: "omit",
  });
  const { text, bytes } = await textOf(response);
  if (!response.ok) throw new Refused(response.status, reasonIn(text, response.status));
  const wallMs = performance.now() - started;
  const read = form === "sql" ? readSql(text) : readPrometheus(text);
  store = read.store;
  const { affectedRows, serverMs, warnings } = read;
  return { columns: store.columns, rowCount: store.rowCount, affectedRows, bytes, serverMs, wallMs, widths: store.widths(), warnings };
}

async function textOf(response: Response): Promise<{ readonly text: string; readonly bytes: number }> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  let told = performance.now();
  const reader = response.body?.getReader();
  for (;;) {
    const step = await reader?.read();
    if (step === undefined || step.done) break;
    bytes += step.value.byteLength;
    if (bytes > BYTES_MAX) {
      await reader?.cancel();
      throw new Refused(
        413,
        `the answer is longer than ${BYTES_MAX / 2 ** 20} MiB: add a LIMIT, or fetch it as a file with format=csvWithNames`,
      );
    }
    parts.push(decoder.decode(step.value, { stream: true }));
    if (performance.now() - told > 200) {
      told = performance.now();
      scope.postMessage({ kind: "progress", bytes });
    }
  }
  parts.push(decoder.decode());
  return { text: parts.join(""), bytes };
}

function reasonIn(text: string, status: number): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (typeof error === "string") return error;
  } catch {
    // Not JSON: the text is the reason.
  }
  return text.trim() === "" ? `the server answered ${status}` : text.trim().slice(0, 2000);
}
