/**
 * Describes the portal API as an OpenAPI 3.1 document, which is made from the table of routes.
 * Anyone may read the document, because it reveals nothing about an installation.
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
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        field: { type: "string", description: "of the form, where the refusal is about one" },
      },
      required: ["code", "message"],
    },
  },
  required: ["error"],
};

type Actions = ReadonlyMap<string, JsonSchema>;

/** The document has only the routes of this node: in production, none of the sandbox. */
export function openApiRoute(
  names: readonly string[],
  loadActions: () => Promise<Actions>,
): HttpRoute {
  const own = Object.fromEntries(Object.entries(api).filter(([name]) => names.includes(name)));
  const headers = { "content-type": "application/json", "cache-control": "no-cache" };
  const path = `${apiPath}/openapi.json`;
  let body: string | undefined;
  return {
    method: "GET",
    path,
    async answer() {
      body ??= JSON.stringify(describeApi(own, await loadActions()));
      return { status: 200, headers, body };
    },
  };
}

/** Each action has its own schema, because its values differ from those of other actions. */
function describeApi(routes: Routes, actions: Actions): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [name, route] of Object.entries(routes)) {
    const [method = "", path = ""] = name.split(" ");
    const place = path.replace(/:(\w+)/g, "{$1}");
    const described = describeRoute(name, route, actions);
    paths[place] = { ...paths[place], [method.toLowerCase()]: described };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Tollgate portal API", version: "1" },
    servers: [{ url: apiPath }],
    paths,
    components: {
      schemas: { Failure: failureShape, ...schemasOf(actions) },
      securitySchemes: {
        session: { type: "apiKey", in: "cookie", name: "__Host-tollgate-session" },
      },
    },
  };
}

/** OpenAPI permits no spaces in the name of a schema, but an action's name contains some. */
function schemaNameOf(action: string): string {
  return `action_${action.replaceAll(/[^A-Za-z0-9]+/g, "_")}`;
}

function schemasOf(actions: Actions): JsonSchema {
  return Object.fromEntries(
    [...actions].map(([action, values]) => [
      schemaNameOf(action),
      {
        type: "object",
        properties: { action: { type: "string", const: action }, values },
        required: ["action", "values"],
      },
    ]),
  );
}

function describeRoute(
  name: string,
  { access, scope, does, input, output }: PortalRoute,
  actions: Actions,
): JsonSchema {
  const isPost = name.startsWith("POST ");
  const inPath = [...name.matchAll(/:(\w+)/g)].map(([, each = ""]) => each);
  const { properties = {}, required = [] } = input.json as InputSchema;
  const others = Object.keys(properties).filter((each) => !inPath.includes(each));
  const place = (each: string) => (inPath.includes(each) ? "path" : "query");
  const parameters = Object.keys(properties)
    .filter((each) => !isPost || inPath.includes(each))
    .map((each) => ({
      name: each,
      in: place(each),
      required: required.includes(each),
      schema: properties[each],
    }));
  const body = {
    type: "object",
    properties: Object.fromEntries(others.map((each) => [each, properties[each]])),
    required: required.filter((each) => !inPath.includes(each)),
    ...(isPost && "values" in properties && { oneOf: refsTo(actions) }),
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

function refsTo(actions: Actions) {
  return [...actions.keys()].map((each) => ({
    $ref: `#/components/schemas/${schemaNameOf(each)}`,
  }));
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
