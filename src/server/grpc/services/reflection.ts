/**
 * Server reflection, so that grpcurl and its kin need no definitions: which services there are, and the files that define them with all
 * that those import. Open to whoever reaches the port, as the definitions are public.
 */
import {
  create,
  type DescEnum,
  type DescFile,
  type DescMessage,
  type DescService,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponseSchema,
} from "../../../../proto/gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../../../proto/gen/grpc/reflection/v1alpha/reflection_pb.js";
import { invalidArguments } from "../../../base/error.ts";
import { type GrpcService, grpcService, OPEN_MESSAGE_BYTES_MAX } from "../service.ts";

type Answer = MessageInitShape<typeof ServerReflectionResponseSchema>;
type AnswerBody = NonNullable<Answer["messageResponse"]>;

/** Characters of a name that a refusal repeats. */
const SHOWN_CHARACTERS_MAX = 200;
/** Longest name. Reason: the answer repeats it, and nobody has signed in. Error: InvalidArguments. */
const NAME_CHARACTERS_MAX = 4096;

/** The service in both of its versions, whose messages are the same. @param others what is served besides */
export function reflectionServices(others: readonly DescService[]): readonly GrpcService[] {
  const definitions = new Definitions([...others, ServerReflection, ServerReflectionAlpha]);
  async function* serverReflectionInfo(requests: AsyncIterable<ServerReflectionRequest>): AsyncGenerator<Answer> {
    for await (const request of requests) {
      checkNames(request);
      const originalRequest = create(ServerReflectionRequestSchema, { host: request.host, messageRequest: request.messageRequest });
      yield { validHost: request.host, originalRequest, messageResponse: definitions.answer(request) };
    }
  }
  // The older version has the same messages under other names, which are made of the same parts.
  const alpha = ServerReflectionAlpha as unknown as typeof ServerReflection;
  return [ServerReflection, alpha].map((version) =>
    grpcService(version, { serverReflectionInfo }, { messageBytesMax: OPEN_MESSAGE_BYTES_MAX }),
  );
}

function checkNames({ host, messageRequest: { value = "" } }: ServerReflectionRequest): void {
  const name = typeof value === "string" ? value : value.containingType;
  const length = Math.max(host.length, name.length);
  if (length <= NAME_CHARACTERS_MAX) return;
  throw invalidArguments(`cannot look up a name of ${length} characters: at most ${NAME_CHARACTERS_MAX} are allowed`);
}

/** Files by their names and by the names of what they define. */
class Definitions {
  private readonly services: readonly string[];
  private readonly files: Map<string, DescFile> = new Map();
  private readonly symbols: Map<string, DescFile> = new Map();

  constructor(services: readonly DescService[]) {
    this.services = services.map(({ typeName }) => typeName).sort();
    for (const { file } of services) this.add(file);
  }

  answer({ messageRequest: { case: kind, value } }: ServerReflectionRequest): AnswerBody {
    switch (kind) {
      case "listServices":
        return { case: "listServicesResponse", value: { service: this.services.map((name) => ({ name })) } };
      case "fileByFilename":
        return fileAnswer(this.files.get(value), value);
      case "fileContainingSymbol":
        return fileAnswer(this.symbols.get(value), value);
      case "fileContainingExtension":
        return refusal(Code.NotFound, `${value.containingType} has no extensions`);
      case "allExtensionNumbersOfType":
        if (!this.symbols.has(value)) return refusal(Code.NotFound, unknown(value));
        return { case: "allExtensionNumbersResponse", value: { baseTypeName: value } };
      case undefined:
        return refusal(Code.InvalidArgument, "the request asks for nothing");
    }
  }

  private add(file: DescFile): void {
    if (this.files.has(file.proto.name)) return;
    this.files.set(file.proto.name, file);
    for (const each of file.dependencies) this.add(each);
    for (const each of file.messages) this.addMessage(each);
    for (const each of file.enums) this.addEnum(each);
    for (const service of file.services) {
      this.symbols.set(service.typeName, file);
      for (const { name } of service.methods) this.symbols.set(`${service.typeName}.${name}`, file);
    }
  }

  private addMessage(message: DescMessage): void {
    this.symbols.set(message.typeName, message.file);
    for (const each of message.nestedMessages) this.addMessage(each);
    for (const each of message.nestedEnums) this.addEnum(each);
  }

  private addEnum({ typeName, file }: DescEnum): void {
    this.symbols.set(typeName, file);
  }
}

/** A file and all that it imports, each once, what is imported last. */
function fileAnswer(file: DescFile | undefined, name: string): AnswerBody {
  if (file === undefined) return refusal(Code.NotFound, unknown(name));
  const all = new Set<DescFile>();
  const add = (each: DescFile): void => {
    if (all.has(each)) return;
    all.add(each);
    for (const imported of each.dependencies) add(imported);
  };
  add(file);
  const fileDescriptorProto = Array.from(all, ({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function unknown(name: string): string {
  return `there is no ${name.slice(0, SHOWN_CHARACTERS_MAX)}`;
}

function refusal(errorCode: Code, errorMessage: string): AnswerBody {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
