/**
 * The other frontends, asked about their statements: all at once, each for at most `ANSWER_MILLIS`.
 *
 *   directory ─► addresses ─► POST to each ─┬─ answered ─► statements
 *                                           └─ silent, refused, unreadable ─► a gap: in the answer's words, and once in the log
 */
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { OtherFrontends, StatementsElsewhere } from "../../db/other-frontends.ts";
import type { KillOutcome } from "../../db/running-statements.ts";
import type { Directory, KnownFrontend } from "../ownership/directory.ts";
import { ValueError } from "../ownership/value-fields.ts";
import { type NodeRequest, type NodeTransport, NotAnswered } from "../wire/node-transport.ts";
import { ANSWER_BYTES_MAX, ANSWER_MILLIS, ANSWERS_BYTES_MAX, NAMES_TOLD_MAX } from "./limits.ts";
import { decodeKillAnswer, decodeListAnswer, encodeAsk, type ListAnswer, type ListAsk } from "./messages.ts";

/** What they are asked by. */
export interface AskedFrontendsParts {
  /** Name of this one. */
  readonly self: string;
  readonly directory: Pick<Directory, "frontends">;
  readonly transport: NodeTransport;
  readonly logger: Logger;
  /** Default: `ANSWER_MILLIS`. */
  readonly answerMillis?: number;
}

/** See the file header. */
export class AskedFrontends implements OtherFrontends {
  readonly self: string;
  private readonly parts: AskedFrontendsParts;
  /** Names of those that did not answer last. */
  private readonly silent: Set<string> = new Set();

  constructor(parts: AskedFrontendsParts) {
    this.parts = parts;
    this.self = parts.self;
  }

  names(): readonly string[] {
    return this.others().map(({ id }) => id);
  }

  async list(of: string | undefined, signal: AbortSignal): Promise<StatementsElsewhere> {
    const others = this.others();
    this.forgetGone(others);
    const bytes = Math.min(ANSWER_BYTES_MAX, Math.floor(ANSWERS_BYTES_MAX / others.length));
    const answers = await Promise.all(others.map((other) => this.listOf(other, { to: other.id, of, bytes }, signal)));
    throwIfCancelled(signal);
    const silent = others.filter((_, index) => answers[index] === undefined).map(({ id }) => id);
    const leftOut = answers.reduce((sum, answer) => sum + (answer?.leftOut ?? 0), 0);
    return {
      statements: answers.flatMap((answer) => answer?.statements ?? []),
      gaps: [
        ...(silent.length === 0 ? [] : [`statements of ${namesText(silent)} are not listed: no answer`]),
        ...(leftOut === 0 ? [] : [`${leftOut} statements are not listed: there are too many`]),
      ],
    };
  }

  async kill(frontend: string, id: string, of: string | undefined, signal: AbortSignal): Promise<KillOutcome> {
    const other = this.others().find((known) => known.id === frontend);
    try {
      if (other === undefined) throw new NotAnswered("it is gone", false);
      const ask = encodeAsk({ to: frontend, of, id });
      const bytes = await this.asked({ address: other.address, path: "/v1/statements/kill", body: ask, mayReuse: false }, signal);
      return decodeKillAnswer(bytes);
    } catch (error) {
      throwIfCancelled(signal);
      const why = `frontend ${frontend} does not answer (${whyOf(error)}); the statement may have ended all the same`;
      throw new DbError(StatusCode.StorageUnavailable, `cannot kill statement ${id}: ${why}`, { cause: error });
    }
  }

  private others(): readonly KnownFrontend[] {
    return this.parts.directory.frontends().filter(({ id }) => id !== this.self);
  }

  /** What runs at one of them; undefined: it does not answer. Never fails. */
  private async listOf({ id, address }: KnownFrontend, ask: ListAsk, signal: AbortSignal): Promise<ListAnswer | undefined> {
    try {
      const request = { address, path: "/v1/statements/list", body: encodeAsk(ask), mayReuse: true } as const;
      const bytes = await this.asked(request, signal, ask.bytes);
      const answer = decodeListAnswer(bytes, id);
      this.silent.delete(id);
      return answer;
    } catch (error) {
      if (!signal.aborted && !this.silent.has(id)) {
        this.silent.add(id);
        const why = "a frontend does not answer: its statements are not listed; said again once it has answered";
        this.parts.logger.warn({ frontend: id, address, reason: whyOf(error) }, why);
      }
      return undefined;
    }
  }

  /** The whole answer. @throws NotAnswered, DbError Cancelled */
  private async asked(request: NodeRequest, signal: AbortSignal, bytesMax: number = ANSWER_BYTES_MAX): Promise<Uint8Array> {
    const { transport, answerMillis = ANSWER_MILLIS } = this.parts;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), answerMillis);
    try {
      const pieces: Uint8Array[] = [];
      let length = 0;
      for await (const piece of transport.ask(request, AbortSignal.any([signal, late.signal]))) {
        length += piece.length;
        if (length > bytesMax) throw new NotAnswered("the answer is too long", true);
        pieces.push(piece.slice()); // It is valid until the next one only.
      }
      return Buffer.concat(pieces);
    } catch (error) {
      if (late.signal.aborted && !signal.aborted) throw new NotAnswered(`it said nothing for ${answerMillis / 1000} s`, true, error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private forgetGone(others: readonly KnownFrontend[]): void {
    const living = new Set(others.map(({ id }) => id));
    for (const id of this.silent) if (!living.has(id)) this.silent.delete(id);
  }
}

function whyOf(error: unknown): string {
  return error instanceof ValueError ? `its answer cannot be read: ${error.message}` : errorText(error, 200);
}

function namesText(names: readonly string[]): string {
  const more = names.length - NAMES_TOLD_MAX;
  return `${names.slice(0, NAMES_TOLD_MAX).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
