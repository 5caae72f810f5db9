/**
 * Calls of one message and one answer by plain gRPC over HTTP/2, which nearly all writes are. They go past the transport's library, which
 * has them run through eight generators, four signals and three copies of their headers.
 *
 *   head ─► deadline, packings ─► the message, alone ─► unfolded ─► method ─► packed ─► head, message and trailers at once
 *
 * What a client gets is what the library would answer, to the byte: unary-calls.test.ts sends requests of every kind both ways.
 */
import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Compression, compressionNegotiate, createMethodSerializationLookup, envelopeDecompress } from "@connectrpc/connect/protocol";
import { parseTimeout } from "@connectrpc/connect/protocol-grpc";
import { assert } from "../../base/assert.ts";
import { errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { Call } from "./call.ts";
import { CallRun, type RunParts } from "./call-run.ts";
import { COMPRESSED, COMPRESSIONS } from "./messages/compression.ts";
import type { AtOnce, Exchange } from "./exchange.ts";
import { failureTrailers, LEFT } from "./failure-trailers.ts";
import { formsOf, IncomingMessages, type MessageRoom } from "./messages/incoming-messages.ts";
import { COMPRESS_BYTES_MIN, DEADLINE_MS_MAX } from "./limits.ts";
import { MESSAGE_HEAD_BYTES } from "./messages/message-gatherer.ts";
import { newFrame } from "./messages/outgoing-frames.ts";
import { WRAP_BYTES_MAX } from "./messages/raw-message.ts";
import { readMessage } from "./messages/read-message.ts";
import type { AnyMethod, AnyWork, GrpcService } from "./service.ts";
import { UnaryContext } from "./unary-context.ts";

/** What calls are answered with. */
export interface UnaryParts extends RunParts {
  readonly services: readonly GrpcService[];
  /** Of messages that come in. */
  readonly room: MessageRoom;
  /** Most bytes of a message that goes out. */
  readonly sendBytesMax: number;
  /** Fires when all calls shall end. */
  readonly shutdownSignal: AbortSignal;
  readonly logger: Logger;
}

/** A method as it is called here. */
export interface UnaryMethod {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly work: (bytes: Uint8Array, call: Call) => unknown;
  /** Whether nobody reads its message any more when it has ended. */
  readonly isBytes: boolean;
  /** @throws ConnectError RESOURCE_EXHAUSTED for an answer that is too long */
  readonly bytesOf: (answer: unknown) => Uint8Array;
  /** Shorter answers are not packed. */
  readonly packedBytesMin: number;
  readonly room: MessageRoom;
}

/** A message that is there whole and alone. */
interface WholeMessage {
  readonly bytes: Uint8Array;
  readonly done: (isUnread: boolean) => void;
}

const PLAIN: ReadonlySet<string | null> = new Set(["application/grpc", "application/grpc+proto"]);
const ACCEPTED = "grpc-accept-encoding";
const FINE = [["grpc-status", "0"]] as const;

/** See the file header. */
export class UnaryCalls {
  private readonly parts: UnaryParts;
  private readonly methods: ReadonlyMap<string, UnaryMethod>;
  private readonly running: Set<UnaryContext> = new Set();
  /** Most bytes that a message unfolds to: as the library is told, which gets it wrapped. */
  private readonly unfoldedBytesMax: number;

  constructor(parts: UnaryParts) {
    this.parts = parts;
    this.unfoldedBytesMax = parts.room.bytesMax + WRAP_BYTES_MAX;
    this.methods = new Map(parts.services.flatMap((service) => methodsOf(service, parts)));
    const { shutdownSignal } = parts;
    shutdownSignal.addEventListener("abort", () => {
      for (const context of this.running) context.end(shutdownSignal.reason);
    });
  }

  /** The method that answers a request here; undefined: the library does. */
  methodOf({ method, path, headers }: Exchange): UnaryMethod | undefined {
    return method === "POST" && PLAIN.has(headers.get("content-type")) ? this.methods.get(path) : undefined;
  }

  /** Answers a request. Never rejects. */
  async answer(method: UnaryMethod, exchange: Exchange, atOnce: AtOnce): Promise<void> {
    const { clock, shutdownSignal } = this.parts;
    const { headers } = exchange;
    const packing = compressionNegotiate(COMPRESSIONS, headers.get("grpc-encoding"), headers.get(ACCEPTED), ACCEPTED);
    const context = new UnaryContext(method.path, exchange, clock, packing.response?.name);
    const messages = new IncomingMessages(method.room, formsOf(headers), exchange.flow);
    this.running.add(context);
    atOnce.onLeft = (reason) => this.left(context, reason);
    exchange.receive(messages);
    try {
      const timeout = parseTimeout(headers.get("grpc-timeout"), DEADLINE_MS_MAX);
      const error = packing.error ?? timeout.error;
      if (error !== undefined) throw error;
      if (shutdownSignal.aborted) context.end(shutdownSignal.reason);
      context.endIn(timeout.timeoutMs);
      messages.goAside();
      const message = await this.wholeMessage(messages, packing.request);
      const answer = await this.run(method, context, message);
      const frame = await frameOf(method.bytesOf(answer), packing.response, method.packedBytesMin);
      atOnce.sendAll(context.answerFields, frame, FINE);
    } catch (thrown) {
      atOnce.sendAll(context.answerFields, undefined, [...failureTrailers(thrown)]);
    } finally {
      context.close();
      this.running.delete(context);
      messages.release();
    }
  }

  private async run(method: UnaryMethod, context: UnaryContext, { bytes, done }: WholeMessage): Promise<unknown> {
    const run = new CallRun(this.parts, new Call(this.parts, context));
    try {
      const answer = await method.work(bytes, run.call);
      run.done();
      return answer;
    } catch (thrown) {
      throw run.failed(thrown);
    } finally {
      done(method.isBytes);
    }
  }

  /** @throws ConnectError for what is no message, for none, and for more than one */
  private async wholeMessage(messages: IncomingMessages, packing: Compression | null): Promise<WholeMessage> {
    const first = await messages.next();
    if (first.done === true) throw new ConnectError("protocol error: missing input message for unary method", Code.Unimplemented);
    const aside = messages.takeAside();
    const message = aside ?? { bytes: await this.unfolded(first.value, packing), done: () => undefined };
    const second = await messages.next();
    if (second.done === true) return message;
    if (messages.takeAside() === undefined) await this.unfolded(second.value, packing);
    throw new ConnectError("protocol error: received extra input message for unary method", Code.Unimplemented);
  }

  /** The bytes of a packed message. @param message with its head */
  private async unfolded(message: Uint8Array<ArrayBuffer>, packing: Compression | null): Promise<Uint8Array> {
    const packed = { flags: message[0] ?? 0, data: message.subarray(MESSAGE_HEAD_BYTES) };
    return (await envelopeDecompress(packed, packing, this.unfoldedBytesMax)).data;
  }

  /** The client left, or the transport failed. */
  private left(context: UnaryContext, reason: ConnectError): void {
    context.end(reason);
    if (!LEFT.has(reason.code)) this.parts.logger.debug({ error: errorText(reason) }, "a call was cut");
  }
}

/** The methods of a service that are called here, by their paths. */
function methodsOf(service: GrpcService, parts: UnaryParts): readonly (readonly [string, UnaryMethod])[] {
  const { typeName, methods } = service.descriptor;
  return methods.flatMap((method) => {
    const work = service.methods.get(method.localName);
    if (method.methodKind !== "unary" || work === undefined) return [];
    const path = `/${typeName}/${method.name}`;
    return [[path, unaryMethod(path, method, work, service, parts)]];
  });
}

function unaryMethod(path: string, method: DescMethod, work: AnyMethod, service: GrpcService, parts: UnaryParts): UnaryMethod {
  const { room, sendBytesMax } = parts;
  const { input, output } = method;
  const limits = { readMaxBytes: room.bytesMax, writeMaxBytes: sendBytesMax };
  const { serialize } = createMethodSerializationLookup(method, undefined, undefined, limits).getO(true);
  const isBytes = typeof work !== "function" && "raw" in work;
  return {
    path,
    isBytes,
    work: isBytes ? work.raw : (bytes, call) => messageWork(work)(readMessage(input, bytes), call),
    bytesOf: (answer) => serialize(create(output, answer as MessageInitShape<typeof output>)),
    packedBytesMin: service.packsAnswers ? COMPRESS_BYTES_MIN : Number.POSITIVE_INFINITY,
    room: { ...room, bytesMax: Math.min(room.bytesMax, service.messageBytesMax) },
  };
}

function messageWork(work: AnyMethod): AnyWork {
  assert(typeof work === "function", "a method of one answer frames none");
  return work;
}

async function frameOf(answer: Uint8Array, packing: Compression | null, packedBytesMin: number): Promise<Uint8Array> {
  const isPacked = packing !== null && answer.length >= packedBytesMin;
  const message = isPacked ? await packing.compress(answer as Uint8Array<ArrayBuffer>) : answer;
  const frame = newFrame(message.length);
  if (isPacked) frame[0] = COMPRESSED;
  frame.set(message, MESSAGE_HEAD_BYTES);
  return frame;
}
