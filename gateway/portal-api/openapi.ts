/**
 * The portal API as an OpenAPI 3.1 document, made from the table of routes. Anyone may read it: it
 * says nothing of an installation.
 */
import type { HttpRoute } from "../http/router.ts";
import { rights } from "../values/roles.ts";
import { api } from "./api.ts";
import { apiPath } from "./pipeline.ts";
import type { PortalRoute, Routes } from "./route.ts";
import type { JsonSchema } from "./schema.ts";

const failureShape = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: { code: { type: "string" }, message: { type: "string" } },
      required: ["code", "message"],
    },
  },
  required: ["error"],
};

/** Of the routes that this node has: production has none of the sandbox. */
export function openApiRoute(names: readonly string[]): HttpRoute {
  const own = Object.entries(api).filter(([name]) => names.includes(name));
  const body = JSON.stringify(describeApi(Object.fromEntries(own)));
  const headers = { "content-type": "application/json", "cache-control": "no-cache" };
  const path = `${apiPath}/openapi.json`;
  return { method: "GET", path, answer: async () => ({ status: 200, headers, body }) };
}

export function describeApi(routes: Routes): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [name, route] of Object.entries(routes)) {
    const [method = "", path = ""] = name.split(" ");
    const place = path.replace(/:(\w+)/g, "{$1}");
    paths[place] = { ...paths[place], [method.toLowerCase()]: describeRoute(name, route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Tollgate portal API", version: "1" },
    servers: [{ url: apiPath }],
    paths,
    components: {
      schemas: { Failure: failureShape },
      securitySchemes: {
        session: { type: "apiKey", in: "cookie", name: "__Host-tollgate-session" },
      },
    },
  };
}

function describeRoute(
  name: string,
  { access, scope, does, input, output }: PortalRoute,
): JsonSchema {
  const isPost = name.startsWith("POST ");
  const inPath = [...name.matchAll(/:(\w+)/g)].map(([, each = ""]) => each);
  const { properties = {}, required = [] } = input.json as InputSchema;
  const others = Object.keys(properties).filter((each) => !inPath.includes(each));
  const place = (each: string) => (inPath.includes(each) ? "path" : "query");
  const parameters = Object.keys(properties)
    .filter((each) => !isPost || inPath.includes(each))
    .map((each) => ({
      ...{ name: each, in: place(each), required: required.includes(each) },
      schema: properties[each],
    }));
  const body = {
    type: "object",
    properties: Object.fromEntries(others.map((each) => [each, properties[each]])),
    required: required.filter((each) => !inPath.includes(each)),
  };
  const portal = { name: "x-portal", in: "header", required: true, schema: { type: "string" } };
  return {
    summary: does,
    operationId: name.replace(/[^A-Za-z]+/g, "_"),
    description: describeAccess(access, scope),
    parameters: isPost ? [...parameters, portal] : parameters,
    ...(isPost && { requestBody: { content: { "application/json": { schema: body } } } }),
    ...(access !== "anyone" && { security: [{ session: [] }] }),
    responses: {
      200: { description: "done", content: { "application/json": { schema: output.json } } },
      default: {
        description: "refused",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } },
      },
    },
  };
}

type InputSchema = {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
};

function describeAccess(access: PortalRoute["access"], scope: PortalRoute["scope"]): string {
  const isRight = rights.some((right) => right === access);
  const who = isRight ? `Needs the right ${access}.` : `For ${access}.`;
  return `${who} Scope: ${scope}.`;
}
