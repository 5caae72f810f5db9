/**
 * Services on the transport: each call becomes a `Call`, what its method throws becomes a status, and all are counted.
 *
 *   binary messages ─► bytes, read here (read-message.ts) where the method is not `raw`
 *   JSON messages   ─► by the descriptor; a `raw` method gets them as the bytes they would have been
 *   frames          ─► past the library; those of answers that are JSON or packed as the messages that they hold
 */
import { create, type DescMessage, type DescMethod, type DescService, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { type ConnectRouter, type ContextKey, createContextKey, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { assert } from "../../base/assert.ts";
import { Call, type CallContext, endOf } from "./call.ts";
import { CallRun, type RunParts } from "./call-run.ts";
import type { IncomingMessages } from "./messages/incoming-messages.ts";
import { checkFrame, FRAME_HEAD_BYTES, type OutgoingFrames } from "./messages/outgoing-frames.ts";
import { bytesOf, withRawInput } from "./messages/raw-message.ts";
import { readMessage } from "./messages/read-message.ts";
import type { AnyMethod, AnyWork, GrpcService } from "./service.ts";

/** What calls are made with. */
export interface MountParts extends RunParts {
  /** Most bytes of a message that goes out. */
  readonly sendBytesMax: number;
}

/** What belongs to a call and the library does not know. */
export interface Aside {
  /** The client's address, as the listener knows it. */
  readonly client: string;
  /** Where messages wait that go by the library. */
  readonly messages: IncomingMessages;
  /** Where messages wait that the method has framed. */
  readonly frames: OutgoingFrames;
}

/** Where a method finds it. */
export const ASIDE: ContextKey<Aside | undefined> = createContextKey<Aside | undefined>(undefined, {
  description: "what goes by the library",
});

/** A method as it is called from the library. */
type Mounted = (input: unknown, call: Call, aside: Aside) => unknown;

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
function apart(method: DescMethod, work: AnyWork, bytesMax: number): Mounted {
  const framing = each(method, work, (bytes) => readMessage(method.input, bytes), "views of it may stay");
  return async function* (input, call, aside) {
    for await (const frame of framing(input, call, aside) as AsyncIterable<Uint8Array>) {
      checkFrame(frame, bytesMax);
      aside.frames.push(frame);
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
function workOver(method: DescMethod, work: AnyMethod, form: MessageForm, frameBytesMax: number | undefined): Mounted {
  if (typeof work === "function") return overMessages(method, work, form);
  if ("raw" in work) return overBytes(method, work.raw, form);
  if (frameBytesMax !== undefined) return apart(method, work.framed, frameBytesMax); // Its form is binary.
  return overMessages(method, unframed(method, work.framed), form);
}

/** A method over messages, as those come from the library: wrapped bytes, or read out of JSON. */
function overMessages(method: DescMethod, work: AnyWork, form: MessageForm): Mounted {
  const input: DescMessage = method.input;
  return form === "json" ? work : each(method, work, (bytes) => readMessage(input, bytes), "views of it may stay");
}

/** A method over the bytes of messages. */
function overBytes(method: DescMethod, work: AnyWork, form: MessageForm): Mounted {
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
function each(method: DescMethod, work: AnyWork, made: (bytes: Uint8Array) => unknown, rest: Rest): Mounted {
  if (method.methodKind === "unary") {
    return async (message, call, { messages }) => {
      const found = messages.takeAside();
      try {
        return await work(made(found?.bytes ?? bytesOf(message as Message)), call);
      } finally {
        found?.done(rest === "nothing of it stays");
      }
    };
  }
  // The bytes of one that streams its answer are held as long as the call.
  if (method.methodKind === "server_streaming")
    return (message, call, { messages }) => work(made(messages.takeAside()?.bytes ?? bytesOf(message as Message)), call);
  return (input, call, { messages }) => work(eachAside(input as AsyncIterable<Message>, messages, made, call), call);
}

async function* eachAside(
  input: AsyncIterable<Message>,
  messages: IncomingMessages,
  made: (bytes: Uint8Array) => unknown,
  call: Call,
): AsyncGenerator<unknown> {
  for await (const message of input) {
    const found = messages.takeAside();
    yield made(found?.bytes ?? bytesOf(message));
    found?.done(call.isMessageDone);
  }
}

async function* eachOf(messages: AsyncIterable<unknown>, made: (message: unknown) => unknown): AsyncGenerator<unknown> {
  for await (const message of messages) yield made(message);
}

/** The method as the transport calls it. */
function running(method: DescMethod, work: Mounted, parts: MountParts): unknown {
  const isStream = method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming";
  return isStream ? runningStream(work, parts) : runningOnce(work, parts);
}

function runningOnce(work: Mounted, parts: MountParts): (input: unknown, context: HandlerContext) => Promise<unknown> {
  return async (input, context) => {
    const aside = asideOf(context);
    const run = new CallRun(parts, callOf(parts, context, aside));
    try {
      const answer = await work(input, run.call, aside);
      run.done();
      return answer;
    } catch (thrown) {
      throw run.failed(thrown);
    }
  };
}

function runningStream(work: Mounted, parts: MountParts): (input: unknown, context: HandlerContext) => AsyncIterable<unknown> {
  return async function* (input, context) {
    const aside = asideOf(context);
    const run = new CallRun(parts, callOf(parts, context, aside));
    let isOver = false;
    try {
      yield* work(input, run.call, aside) as AsyncIterable<unknown>;
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

function asideOf({ values }: HandlerContext): Aside {
  const aside = values.get(ASIDE);
  assert(aside !== undefined, "a call knows what goes by the library");
  return aside;
}

function callOf(parts: MountParts, context: HandlerContext, { client }: Aside): Call {
  const { requestHeader: headers, responseHeader: answerHeaders, service, method } = context;
  const made: CallContext = { headers, answerHeaders, path: `/${service.typeName}/${method.name}`, client, signal: withReason(context) };
  return new Call(parts, made);
}

/** The signal of a call, with reasons that say what a database's clients are told. */
function withReason({ signal, timeoutMs }: HandlerContext): AbortSignal {
  const controller = new AbortController();
  const end = (): void => controller.abort(endOf((timeoutMs() ?? 1) <= 0, signal.reason));
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return controller.signal;
}
