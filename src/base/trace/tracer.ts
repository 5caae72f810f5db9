/**
 * Spans of what this thread does: requests, statements, flushes, merges. They wait in a queue that has an end and go out in batches.
 *
 *   begin/record ─► queue (`QUEUE_MAX`, then they are dropped and counted) ─► every 2 s, or 512 ─► POST to `otlp_endpoint`
 *
 * While it is off nothing is made: who traces asks `isOn` first. Whoever comes with a trace of its own is recorded as that trace says;
 * traces that begin here are recorded by a part of their ids. The export says of itself that it is not recorded, so that a server which
 * keeps its own traces makes none of that.
 */
import type { Counter } from "prom-client";
import type { Clock } from "../clock.ts";
import { errorText } from "../error.ts";
import type { Logger } from "../log.ts";
import type { MetricRegistry } from "../metrics.ts";
import { Seldom } from "../process/seldom.ts";
import { type Attributes, type Span, SpanKind, spansMessage, type TraceResource } from "./span-message.ts";
import { type TraceContext, TraceIds } from "./trace-context.ts";

/** Most spans that wait. Reason: 400 B each, 3 MiB. The rest is dropped. */
export const QUEUE_MAX = 8192;
/** Spans of one request. */
const BATCH_MAX = 512;
/** Longest wait of a span, in milliseconds. */
const DELAY_MS = 2000;
/** Digits of a trace's id that say whether it is recorded: the lowest 13, which a number holds (OpenTelemetry's TraceIdRatioBased). */
const RATIO_DIGITS = 13;
const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

/** Sends a batch. @throws what goes wrong */
export type SendSpans = (body: Uint8Array<ArrayBuffer>) => Promise<void>;

/** What a tracer is made of. */
export interface TracerParts {
  readonly send: SendSpans;
  readonly resource: TraceResource;
  /** Part of the traces that begin here which are recorded, 0 to 1. */
  readonly sampleRatio: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** A piece of work that has begun. */
export interface OpenSpan {
  readonly context: TraceContext;
  /** To be called once. @param failure why it failed; undefined: it did not */
  end(attributes: Attributes, failure?: string): void;
}

/** Work that has ended, for those who hear of it then. */
export interface EndedWork {
  readonly name: string;
  readonly parent: TraceContext | undefined;
  /** How long it took until now. */
  readonly millis: number;
  readonly attributes: Attributes;
  readonly failure?: string | undefined;
}

/** See the file header. One a thread. */
export class Tracer {
  private readonly parts: TracerParts;
  private readonly ids: TraceIds = new TraceIds();
  private readonly sent: Counter;
  private readonly dropped: Counter<"reason">;
  private readonly seldom: Seldom;
  private queue: Span[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sending: Promise<void> | undefined;
  private on = false;

  constructor(parts: TracerParts) {
    this.parts = parts;
    this.sent = parts.metrics.counter("varve_trace_spans_sent_total", "spans of the server itself that were sent");
    this.dropped = parts.metrics.counter("varve_trace_spans_dropped_total", "spans of the server itself that were lost, by why", "reason");
    this.seldom = new Seldom(parts.clock, 1, 60_000);
  }

  /** Whether work is recorded now. */
  get isOn(): boolean {
    return this.on;
  }

  /** Switches it; what waits is sent all the same. */
  set isOn(isOn: boolean) {
    this.on = isOn;
  }

  /** Begins a piece of work; undefined where it is not recorded. */
  begin(name: string, parent: TraceContext | undefined): OpenSpan | undefined {
    if (!this.on) return undefined;
    const context = this.contextOf(parent);
    if (context === undefined) return undefined;
    const { clock } = this.parts;
    const [startNanos, startedMillis] = [clock.nowNanos(), clock.monotonicMillis()];
    return {
      context,
      end: (attributes, failure) => {
        const endNanos = startNanos + nanosOf(clock.monotonicMillis() - startedMillis);
        this.add(context, { parentId: parent?.spanId, name, kind: SpanKind.server, startNanos, endNanos, attributes, failure });
      },
    };
  }

  /** Records work that has ended. */
  record({ name, parent, millis, attributes, failure }: EndedWork): void {
    if (!this.on) return;
    const context = this.contextOf(parent);
    if (context === undefined) return;
    const endNanos = this.parts.clock.nowNanos();
    const startNanos = endNanos - nanosOf(millis);
    this.add(context, { parentId: parent?.spanId, name, kind: SpanKind.internal, startNanos, endNanos, attributes, failure });
  }

  /** Sends what waits, once; what cannot be sent in time is lost. */
  async close(graceMs: number): Promise<void> {
    this.on = false;
    clearTimeout(this.timer);
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), graceMs);
    await Promise.race([this.sendAll(), late.promise]);
    clearTimeout(timer);
  }

  private contextOf(parent: TraceContext | undefined): TraceContext | undefined {
    if (parent !== undefined && !parent.isSampled) return undefined;
    const traceId = parent?.traceId ?? this.ids.next(TRACE_DIGITS);
    if (parent === undefined && !this.isChosen(traceId)) return undefined;
    return { traceId, spanId: this.ids.next(SPAN_DIGITS), isSampled: true };
  }

  private isChosen(traceId: string): boolean {
    const { sampleRatio } = this.parts;
    return sampleRatio >= 1 || Number.parseInt(traceId.slice(-RATIO_DIGITS), 16) < sampleRatio * 16 ** RATIO_DIGITS;
  }

  private add({ traceId, spanId }: TraceContext, span: Omit<Span, "traceId" | "spanId">): void {
    if (this.queue.length >= QUEUE_MAX) {
      this.dropped.inc({ reason: "queue" });
      return;
    }
    this.queue.push({ traceId, spanId, ...span });
    if (this.queue.length >= BATCH_MAX)
      void this.sendAll(); // never rejects
    else this.timer ??= setTimeout(() => void this.sendAll(), DELAY_MS).unref();
  }

  private sendAll(): Promise<void> {
    this.sending ??= this.sendBatches().finally(() => {
      this.sending = undefined;
    });
    return this.sending;
  }

  private async sendBatches(): Promise<void> {
    await Promise.resolve(); // The queue is looked at in a turn of its own, after `sending` is set.
    clearTimeout(this.timer);
    this.timer = undefined;
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, BATCH_MAX);
      try {
        await this.parts.send(spansMessage(batch, this.parts.resource));
        this.sent.inc(batch.length);
      } catch (error) {
        this.dropped.inc({ reason: "send" }, batch.length);
        const unsaid = this.seldom.take();
        if (unsaid !== undefined) this.parts.logger.warn({ spans: batch.length, unsaid, error: errorText(error) }, "cannot send traces");
      }
    }
  }
}

function nanosOf(millis: number): bigint {
  return BigInt(Math.max(0, Math.round(millis * 1e6)));
}
