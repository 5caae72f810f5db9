/** The page's side of the thread that holds an answer. */
import { authorization, askForCredentials } from "./credentials.ts";
import { headersOf, ServerError } from "./client.ts";
import type { AnswerHead, ChartAsk, ChartData, FetchAsk, FromAnswers, ToAnswers } from "./answer-messages.ts";

type Question = Extract<ToAnswers, { readonly id: number }>;
type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;

/** One answer at a time, in a thread of its own. */
export class Answers {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  private lastId = 0;
  /** Told how many bytes have come, while an answer comes. */
  onProgress: (bytes: number) => void = () => undefined;

  constructor() {
    this.worker = new Worker(threadPath(), { type: "module" });
    this.worker.addEventListener("message", ({ data }: MessageEvent<FromAnswers>) => this.take(data));
    this.worker.addEventListener("error", (event) => this.failAll(new Error(`the thread of answers failed: ${event.message}`)));
  }

  /** Fetches an answer; asks for credentials when they are wanted. @throws ServerError; status 0: cancelled or no server */
  async fetch(ask: Omit<FetchAsk, "headers">): Promise<AnswerHead> {
    for (;;) {
      try {
        return (await this.ask({ kind: "fetch", ask: { ...ask, headers: headersOf() } })) as AnswerHead;
      } catch (error) {
        if (!(error instanceof ServerError) || error.status !== 401) throw error;
        await askForCredentials();
        if (authorization() === undefined) throw error;
      }
    }
  }

  /** Ends the fetch that is under way. */
  cancel(): void {
    this.worker.postMessage({ kind: "cancel" } satisfies ToAnswers);
  }

  /** Rows as text. */
  async rows(from: number, to: number): Promise<readonly (readonly (string | null)[])[]> {
    return (await this.ask({ kind: "rows", from, to })) as readonly (readonly (string | null)[])[];
  }

  /** Orders rows by a column. */
  async sort(column: number, descending: boolean): Promise<void> {
    await this.ask({ kind: "sort", column, descending });
  }

  /** Lines for a chart. */
  async chart(ask: ChartAsk): Promise<ChartData> {
    return (await this.ask({ kind: "chart", ask })) as ChartData;
  }

  /** The whole answer as a CSV file. */
  async csv(): Promise<Blob> {
    return (await this.ask({ kind: "csv" })) as Blob;
  }

  /** Ends the thread. */
  close(): void {
    this.worker.terminate();
    this.failAll(new Error("closed"));
  }

  private async ask(question: WithoutId<Question>): Promise<unknown> {
    const id = ++this.lastId;
    const answer = new Promise<unknown>((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.worker.postMessage({ id, ...question });
    return await answer;
  }

  private take(message: FromAnswers): void {
    if (message.kind === "progress") {
      this.onProgress(message.bytes);
      return;
    }
    const waiter = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.kind === "done") waiter?.resolve(message.value);
    else waiter?.reject(new ServerError(message.status, message.reason));
  }

  private failAll(error: Error): void {
    for (const waiter of this.waiting.values()) waiter.reject(error);
    this.waiting.clear();
  }
}

/** The address of the thread's program, which the page names. */
function threadPath(): string {
  const named = document.querySelector<HTMLMetaElement>('meta[name="answer-thread"]')?.content;
  if (named === undefined) throw new Error("the page does not name the thread of answers");
  return named;
}
