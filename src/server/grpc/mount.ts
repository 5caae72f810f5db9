/**
 * Services on the transport: each call becomes a `Call`, what its method throws becomes a status, and all are counted.
 *
 *   binary messages ─► bytes, read here (read-message.ts) where the method is not `raw`
 *   JSON messages   ─► by the descriptor; a `raw` method gets them as the bytes they would have been
 */
import { type DescMessage, type DescMethod, type DescService, type Message, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createContextKey, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import type { FailureLog } from "../common/failure-log.ts";
import { Call, type CallParts } from "./call.ts";
import { connectErrorOf, ERROR_CODE, errorMetadata, statusOfTransport } from "./errors.ts";
import { bytesOf, withRawInput } from "./raw-message.ts";
import { readMessage } from "./read-message.ts";
import type { AnyWork, GrpcService } from "./service.ts";

/** What calls are made with. */
export interface MountParts extends CallParts {
  readonly clock: Clock;
  readonly failures: FailureLog;
}

/** The client's address, as the listener knows it. */
export const CLIENT: ReturnType<typeof createContextKey<string>> = createContextKey("gone", { description: "address of the client" });

/** Kinds of messages: those of gRPC and of most Connect clients, and what browsers and curl send. */
export type MessageForm = "binary" | "json";

/** Adds a service to a router for messages of one form. */
export function mount(router: ConnectRouter, service: GrpcService, form: MessageForm, parts: MountParts): void {
  const methods: Record<string, unknown> = {};
  const described: DescMethod[] = [];
  for (const method of service.descriptor.methods) {
    const work = service.methods.get(method.localName);
    described.push(form === "binary" ? withRawInput(method) : method);
    if (work === undefined) continue;
    methods[method.localName] = running(
      method,
      typeof work === "function" ? overMessages(method, work, form) : overBytes(method, work.raw, form),
      parts,
    );
  }
  // The types were checked where the service was made (service.ts).
  router.service(withMethods(service.descriptor, described), methods as Partial<ServiceImpl<DescService>>);
}

function withMethods(descriptor: DescService, methods: DescMethod[]): DescService {
  return { ...descriptor, methods, method: Object.fromEntries(methods.map((method) => [method.localName, method])) };
}

/** A method over messages, as those come from the library: wrapped bytes, or read out of JSON. */
function overMessages(method: DescMethod, work: AnyWork, form: MessageForm): AnyWork {
  const input: DescMessage = method.input;
  return form === "json" ? work : each(method, work, (message) => readMessage(input, bytesOf(message)));
}

function overBytes(method: DescMethod, work: AnyWork, form: MessageForm): AnyWork {
  const input: DescMessage = method.input;
  return each(method, work, form === "binary" ? bytesOf : (message) => toBinary(input, message));
}

/** A method whose message, or each of them, is made from what the library read. */
function each(method: DescMethod, work: AnyWork, made: (message: Message) => unknown): AnyWork {
  if (method.methodKind === "unary" || method.methodKind === "server_streaming")
    return (message, call) => work(made(message as Message), call);
  return (messages, call) => work(eachOf(messages as AsyncIterable<Message>, made), call);
}

async function* eachOf(messages: AsyncIterable<Message>, made: (message: Message) => unknown): AsyncGenerator<unknown> {
  for await (const message of messages) yield made(message);
}

/** The method as the transport calls it. */
function running(method: DescMethod, work: AnyWork, parts: MountParts): unknown {
  const isStream = method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming";
  return isStream ? runningStream(work, parts) : runningOnce(work, parts);
}

function runningOnce(work: AnyWork, parts: MountParts): (input: unknown, context: HandlerContext) => Promise<unknown> {
  return async (input, context) => {
    const run = new Run(parts, context);
    try {
      const answer = await work(input, run.call);
      run.done();
      return answer;
    } catch (thrown) {
      throw run.failed(thrown);
    }
  };
}

function runningStream(work: AnyWork, parts: MountParts): (input: unknown, context: HandlerContext) => AsyncIterable<unknown> {
  return async function* (input, context) {
    const run = new Run(parts, context);
    let isOver = false;
    try {
      yield* work(input, run.call) as AsyncIterable<unknown>;
      isOver = true;
      run.done();
    } catch (thrown) {
      isOver = true;
      throw run.failed(thrown);
    } finally {
      // The transport let go of the answer: its client left.
      if (!isOver) run.left();
    }
  };
}

/** One call from its beginning to its end. */
class Run {
  readonly call: Call;
  private readonly parts: MountParts;
  private readonly startedMs: number;

  constructor(parts: MountParts, context: HandlerContext) {
    this.parts = parts;
    this.startedMs = parts.clock.monotonicMillis();
    this.call = new Call(parts, context, context.values.get(CLIENT));
  }

  done(): void {
    this.answered(0);
  }

  left(): void {
    this.answered(Code.Canceled);
  }

  /** What the transport is to be told. */
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
    this.parts.metrics.answered(this.call.path, code, (this.parts.clock.monotonicMillis() - this.startedMs) / 1000);
  }
}

/** A failure of the transport, such as a message that is too long, with our code where it has none yet. */
function withCode(error: ConnectError): ConnectError {
  const { rawMessage, code, cause, metadata } = error;
  if (metadata.has(ERROR_CODE)) return error;
  return new ConnectError(rawMessage, code, errorMetadata(statusOfTransport(code), undefined), undefined, cause);
}
