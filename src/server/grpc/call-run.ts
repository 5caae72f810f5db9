/** One call from its beginning to its end: what its method throws becomes a status, and it is counted. */
import { Code, ConnectError } from "@connectrpc/connect";
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { traceContextOf, traceParentText } from "../../base/trace/trace-context.ts";
import type { OpenSpan, Tracer } from "../../base/trace/tracer.ts";
import type { FailureLog } from "../common/failure-log.ts";
import type { Call, CallParts } from "./call.ts";
import { connectErrorOf, ERROR_CODE, errorMetadata, statusOfTransport } from "./errors.ts";

/** What calls are run with. */
export interface RunParts extends CallParts {
  readonly clock: Clock;
  readonly failures: FailureLog;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

/** Statuses that say that the server failed, by OpenTelemetry's conventions for gRPC. */
const SERVER_FAILURES: ReadonlySet<number> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

/** See the file header. It begins when it is made; one of its methods is to be called when it ends. */
export class CallRun {
  readonly call: Call;
  private readonly parts: RunParts;
  private readonly startedMs: number;
  private readonly span: OpenSpan | undefined;

  constructor(parts: RunParts, call: Call) {
    this.parts = parts;
    this.startedMs = parts.clock.monotonicMillis();
    this.call = call;
    this.span = parts.tracer?.isOn === true ? traced(parts.tracer, call) : undefined;
  }

  /** It went well. */
  done(): void {
    this.answered(0);
  }

  /** Its client left. */
  left(): void {
    this.answered(Code.Canceled);
  }

  /** Its method has thrown. @returns what the client is to be told */
  failed(thrown: unknown): ConnectError {
    const error = this.errorOf(thrown);
    this.answered(error.code);
    return error;
  }

  private errorOf(thrown: unknown): ConnectError {
    const { call, parts } = this;
    const { reason, aborted } = call.signal;
    if (aborted && reason instanceof DbError) return connectErrorOf(reason);
    if (thrown instanceof ConnectError) return withCode(thrown);
    const { error, requestId } = parts.failures.report(thrown, { method: "call", path: call.path }, () => call.client);
    if (requestId !== undefined) parts.metrics.errors.inc({ protocol: "grpc" });
    const shown = connectErrorOf(error);
    if (requestId !== undefined) shown.metadata.set("x-request-id", requestId);
    return shown;
  }

  private answered(code: number): void {
    const { call, parts, span } = this;
    parts.metrics.answered(call.path, code, (parts.clock.monotonicMillis() - this.startedMs) / 1000);
    if (span === undefined) return;
    const attributes = {
      "rpc.system.name": "grpc",
      "rpc.method": call.path.slice(1),
      "rpc.response.status_code": code === 0 ? "OK" : (Code[code] ?? String(code)),
      "user_agent.original": call.headers.get("user-agent") ?? undefined,
    };
    span.end(attributes, SERVER_FAILURES.has(code) ? `status ${code}` : undefined);
  }
}

/** Begins the span of a call, which statements belong to and the answer names. */
function traced(tracer: Tracer, call: Call): OpenSpan | undefined {
  const span = tracer.begin(call.path.slice(1), traceContextOf(call.headers.get("traceparent")));
  if (span === undefined) return undefined;
  call.trace = span.context;
  call.answerHeaders.set("traceresponse", traceParentText(span.context));
  return span;
}

/** A failure of the transport, such as a message that is too long, with our code where it has none yet. */
function withCode(error: ConnectError): ConnectError {
  const { rawMessage, code, cause, metadata } = error;
  if (metadata.has(ERROR_CODE)) return error;
  return new ConnectError(rawMessage, code, errorMetadata(statusOfTransport(code), undefined), undefined, cause);
}
