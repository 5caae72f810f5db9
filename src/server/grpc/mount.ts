/**
 * Services on the transport: each call becomes a `Call`, what its method throws becomes a status, and all are counted.
 *
 *   binary messages ─► bytes, read here (read-message.ts) where the method is not `raw`
 *   JSON messages   ─► by the descriptor; a `raw` method gets them as the bytes they would have been
 *   frames          ─► past the library; those of answers that are JSON or packed as the messages that they hold
 */
import { create, type DescMessage, type DescMethod, type DescService, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ConnectRouter, createContextKey, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import type { FailureLog } from "../common/failure-log.ts";
import { Call, type CallParts } from "./call.ts";
import { connectErrorOf, ERROR_CODE, errorMetadata, statusOfTransport } from "./errors.ts";
import { checkFrame, FRAME_HEAD_BYTES } from "./outgoing-frames.ts";
import { bytesOf, withRawInput } from "./raw-message.ts";
import { readMessage } from "./read-message.ts";
import type { AnyMethod, AnyWork, GrpcService } from "./service.ts";

/** What calls are made with. */
export interface MountParts extends CallParts {
  readonly clock: Clock;
  readonly failures: FailureLog;
  /** Most bytes of a message that goes out. */
  readonly sendBytesMax: number;
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
    const isFramed = work !== undefined && typeof work !== "function" && "framed" in work;
    const isApart = isFramed && form === "binary" && !service.packsAnswers;
    const known = isApart ? withoutOutput(method) : method;
    described.push(form === "binary" ? withRawInput(known) : known);
    if (work === undefined) continue;
    methods[method.localName] = running(method, workOver(method, work, form, isApart ? parts.sendBytesMax : undefined), parts);
  }
  // The types were checked where the service was made (service.ts).
  const implementation = methods as Partial<ServiceImpl<DescService>>;
  const options = service.packsAnswers ? undefined : { compressMinBytes: Number.MAX_SAFE_INTEGER };
  router.service(withMethods(service.descriptor, described), implementation, options);
}

/** The method as the library shall know it whose answers pass it by. */
function withoutOutput(method: DescMethod): DescMethod {
  return { ...method, output: EmptySchema } as DescMethod; // its kind stays, whatever the output is
}

/** Leaves frames where the answer finds them, and gives the library an empty message for each. */
function apart(work: AnyWork, bytesMax: number): AnyWork {
  return async function* (input, call) {
    for await (const frame of work(input, call) as AsyncIterable<Uint8Array>) {
      checkFrame(frame, bytesMax);
      call.frames.push(frame);
      yield create(EmptySchema);
    }
  };
}

/** The messages in frames. */
function unframed(method: DescMethod, work: AnyWork): AnyWork {
  return async function* (input, call) {
    for await (const frame of work(input, call) as AsyncIterable<Uint8Array>) {
      yield fromBinary(method.output, frame.subarray(FRAME_HEAD_BYTES));
    }
  };
}

function withMethods(descriptor: DescService, methods: DescMethod[]): DescService {
  return { ...descriptor, methods, method: Object.fromEntries(methods.map((method) => [method.localName, method])) };
}

/** A method as the library calls it, but for what is counted. @param frameBytesMax of frames that pass by it; undefined: none do */
function workOver(method: DescMethod, work: AnyMethod, form: MessageForm, frameBytesMax: number | undefined): AnyWork {
  if (typeof work === "function") return overMessages(method, work, form);
  if ("raw" in work) return overBytes(method, work.raw, form);
  return overMessages(method, frameBytesMax === undefined ? unframed(method, work.framed) : apart(work.framed, frameBytesMax), form);
}

/** A method over messages, as those come from the library: wrapped bytes, or read out of JSON. */
function overMessages(method: DescMethod, work: AnyWork, form: MessageForm): AnyWork {
  const input: DescMessage = method.input;
  return form === "json" ? work : each(method, work, (bytes) => readMessage(input, bytes), "views of it may stay");
}

/** A method over the bytes of messages. */
function overBytes(method: DescMethod, work: AnyWork, form: MessageForm): AnyWork {
  const input: DescMessage = method.input;
  if (form === "binary") return each(method, work, (bytes) => bytes, "nothing of it stays");
  const toBytes = (message: unknown): Uint8Array => toBinary(input, message as Message);
  if (hasOneMessage(method)) return (message, call) => work(toBytes(message), call);
  return (messages, call) => work(eachOf(messages as AsyncIterable<unknown>, toBytes), call);
}

const hasOneMessage = ({ methodKind }: DescMethod): boolean => methodKind === "unary" || methodKind === "server_streaming";

/** What may be left of a message when its method has ended. */
type Rest = "nothing of it stays" | "views of it may stay";

/** A method whose message, or each of them, is made from the bytes that came, by the library or past it. */
function each(method: DescMethod, work: AnyWork, made: (bytes: Uint8Array) => unknown, rest: Rest): AnyWork {
  if (method.methodKind === "unary") return (message, call) => once(message as Message, call, work, made, rest === "nothing of it stays");
  // The bytes of one that streams its answer are held as long as the call.
  if (method.methodKind === "server_streaming")
    return (message, call) => work(made(call.takeAside()?.bytes ?? bytesOf(message as Message)), call);
  return (messages, call) => work(eachAside(messages as AsyncIterable<Message>, call, made), call);
}

async function once(
  message: Message,
  call: Call,
  work: AnyWork,
  made: (bytes: Uint8Array) => unknown,
  isUnread: boolean,
): Promise<unknown> {
  const aside = call.takeAside();
  try {
    return await work(made(aside?.bytes ?? bytesOf(message)), call);
  } finally {
    aside?.done(isUnread);
  }
}

async function* eachAside(messages: AsyncIterable<Message>, call: Call, made: (bytes: Uint8Array) => unknown): AsyncGenerator<unknown> {
  for await (const message of messages) {
    const aside = call.takeAside();
    yield made(aside?.bytes ?? bytesOf(message));
    aside?.done(false); // Bulk inserts read ahead of what they work on.
  }
}

async function* eachOf(messages: AsyncIterable<unknown>, made: (message: unknown) => unknown): AsyncGenerator<unknown> {
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
