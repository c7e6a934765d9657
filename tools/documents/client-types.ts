/** The client's types of requests and replies, as text. */
import type { Operation } from "../../gateway/merchant-api/operation.ts";
import type { Status } from "../../gateway/views/stages.ts";
import type { Example } from "./examples.ts";
import { always, statusFields } from "./status-fields.ts";
import { block, key, pascal, quote, sentence } from "./typescript.ts";

/** The client adds them. */
const ownFields: ReadonlySet<string> = new Set(["login", "control"]);

const statuses: readonly Status[] = ["processing", "approved", "declined", "error", "filtered"];

/** A request that takes the fields of an earlier one shares its type. */
export function renderRequests(operations: readonly Operation[]): readonly string[] {
  const names = new Map<string, string>();
  return operations.map(({ name, purpose, request }) => {
    const typeName = `${pascal(name)}Request`;
    const fields = block(...fieldLines(request));
    const shared = names.get(fields);
    names.set(fields, shared ?? typeName);
    const value = shared === undefined ? `{\n${fields}}` : shared;
    return block(`/** ${purpose} */`, `export type ${typeName} = ${value};`);
  });
}

/** Fields that an endpoint may waive stay mandatory here; an empty value is not sent. */
function fieldLines(request: Operation["request"]): readonly string[] {
  const fields = Object.entries(request).filter(([field]) => !ownFields.has(field));
  return fields.flatMap(([field, { type, necessity, documentation }]) => {
    const mark = necessity === "mandatory" ? "" : "?";
    const value = necessity === "mandatory" ? "string" : "string | undefined";
    const note = necessity === "conditional" ? "; needed in some requests" : "";
    return [
      `  /** ${type}: ${documentation}${note}. */`,
      `  readonly ${key(field)}${mark}: ${value};`,
    ];
  });
}

export type ReplyShape = {
  readonly name: string;
  readonly type: string;
  readonly mandatory: readonly string[];
  readonly optional: readonly string[];
};

/** A reply's type says what it is: operations that answer alike share one. */
export function repliesOf(examples: readonly Example[]): readonly ReplyShape[] {
  const shapes = examples.map(shapeOf);
  return shapes.filter(({ name }, at) => shapes.findIndex((shape) => shape.name === name) === at);
}

export function shapeOf({ operation, reply }: Example): ReplyShape {
  const { type, orderId, clientOrderId } = reply;
  if (type === "status-response") {
    const mandatory = [...always, "status"];
    const optional = Object.keys(statusFields).filter((name) => !mandatory.includes(name));
    return { name: "StatusReply", type, mandatory, optional };
  }
  const mandatory = always.filter(
    (name) =>
      (name !== "merchant-order-id" || clientOrderId !== undefined) &&
      (name !== "gw-order-id" || orderId !== undefined),
  );
  const optional = reply.fields.map(([field]) => field);
  const name = type === "async-response" ? "Acknowledgement" : `${pascal(operation.name)}Reply`;
  return { name, type, mandatory, optional };
}

export function renderReply({ name, type, mandatory, optional }: ReplyShape): string {
  const line = (field: string, mark: string, value: string) => [
    ...(type === "status-response" ? [`  /** ${sentence(statusFields[field])} */`] : []),
    `  readonly ${key(field)}${mark}: ${value};`,
  ];
  const typeOf = (field: string) => {
    if (field === "type") return quote(type);
    return field === "status" ? statuses.map(quote).join(" | ") : "string";
  };
  return block(
    `export type ${name} = {`,
    ...mandatory.flatMap((field) => line(field, "", typeOf(field))),
    ...optional.flatMap((field) => line(field, "?", "string | undefined")),
    "};",
    "",
    `export function is${name}(fields: ReplyFields): fields is ${name} {`,
    `  const mandatory = [${mandatory.map(quote).join(", ")}];`,
    ...(mandatory.includes("status")
      ? [
          `  const statuses = [${statuses.map(quote).join(", ")}];`,
          '  if (!statuses.includes(fields["status"] ?? "")) return false;',
        ]
      : []),
    `  if (fields["type"] !== ${quote(type)}) return false;`,
    "  return mandatory.every((name) => fields[name] !== undefined);",
    "}",
  );
}
