/**
 * Passes an HTTP request to a route of the portal API after checks of its origin, session, right
 * and input. Browsers send the session's cookie only from the same site (`SameSite=Strict`), and a
 * change needs an origin of the portal and the header `x-portal`, which a form of another site
 * cannot send.
 */
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";
import { maskCardNumbers } from "../values/mask-card-numbers.ts";
import { hasRight, isMerchantRole, type Right } from "../values/roles.ts";
import { newBrowser, openVisit, stateOf, type VisitOptions } from "./account.ts";
import { api, type Handlers } from "./api.ts";
import {
  type Access,
  type Account,
  type Caller,
  PortalFile,
  PortalRefusal,
  type PortalRoute,
  type PortalVisit,
  type RecordRefusal,
  type Routes,
} from "./route.ts";
import type { SandboxHandlers } from "./sandbox-routes.ts";
import { ShapeFault } from "./schema.ts";
import type { SessionState, ShownEnvironment } from "./shapes.ts";

export const apiPath = "/portal/api";

export type PipelineOptions = VisitOptions & {
  readonly environment: ShownEnvironment;
  /**
   * The origins at which browsers open the portal. They are not taken from the request's `Host`
   * header, because the client chooses that header.
   */
  readonly origins: () => readonly string[];
  readonly isUnavailable: (error: unknown) => boolean;
  readonly onFailed: (route: string, error: unknown) => void;
  readonly recordRefusal: RecordRefusal;
};

const apiHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "content-type": "application/json",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/** The type of every route's handler. The input has passed the check against the route's shape. */
type Handle = (input: unknown, visit: PortalVisit | Caller) => Promise<unknown>;

export function portalApiRoutes(
  handlers: Omit<Handlers, keyof SandboxHandlers> & Partial<SandboxHandlers>,
  options: PipelineOptions,
): readonly HttpRoute[] {
  const table: Routes = api;
  return Object.entries(handlers).map(([name, handle]) => {
    const [method, path = ""] = name.split(" ");
    const [route, own] = [table[name], handle as Handle];
    if (route === undefined) throw new Error(`no route ${name}`);
    const answer = (request: HttpRequest) => run({ name, route, own }, request, options);
    return { method: method === "POST" ? "POST" : "GET", path: `${apiPath}${path}`, answer };
  });
}

type Named = { readonly name: string; readonly route: PortalRoute; readonly own: Handle };

async function run(
  named: Named,
  request: HttpRequest,
  options: PipelineOptions,
): Promise<HttpReply> {
  const cookies: string[] = [];
  try {
    const visit = await openVisit(request, options, cookies);
    const result = await answerVisit(named, request, visit, options);
    return reply(result, cookies);
  } catch (error) {
    if (options.isUnavailable(error)) return reply(unavailable);
    options.onFailed(named.name, error);
    const body = { error: { code: "internal", message: "Something went wrong in the gateway." } };
    return { status: 500, headers: apiHeaders, body: JSON.stringify(body) };
  }
}

const unavailable = new PortalRefusal(
  503,
  "unavailable",
  "The database cannot be reached. Try again.",
);
const foreign = new PortalRefusal(
  403,
  "foreign_origin",
  "This request does not come from the portal.",
);
const signedOut = new PortalRefusal(401, "signed_out", "Sign in again.");

async function answerVisit(
  { name, route, own }: Named,
  request: HttpRequest,
  visit: PortalVisit,
  options: PipelineOptions,
): Promise<unknown> {
  if (request.method === "POST" && !isOwnOrigin(request, options)) return foreign;
  const caller = admit(route, visit, options);
  if (caller instanceof PortalRefusal) {
    const { account } = visit.session ?? {};
    if (account && caller.code === notAllowed && request.method === "POST")
      await options.recordRefusal(actorOf(account, visit), `portal ${name}`, route.access);
    return caller;
  }
  const given = readInput(name, request);
  if (given instanceof PortalRefusal) return given;
  const input = route.input.read(given, "input", maskCardNumbers);
  if (input instanceof ShapeFault) {
    const field = input.at.replace(/^input\.?/, "");
    return new PortalRefusal(400, "invalid_input", `${field || "The request"} ${input.fault}.`);
  }
  return own(input, caller);
}

/** The right is checked first, so that a user without it finds out nothing about the input. */
function admit(
  { access, scope }: PortalRoute,
  visit: PortalVisit,
  { environment }: PipelineOptions,
): PortalVisit | Caller | PortalRefusal {
  if (access === "anyone") return visit;
  const { session } = visit;
  if (session === undefined) return signedOut;
  const { account } = session;
  const state = stateOf(session, environment);
  if (!admitted(access).includes(state)) {
    return new PortalRefusal(403, state, "Finish signing in first.");
  }
  const isMerchants = isMerchantRole(account.role);
  const mayUse = !isRight(access) || hasRight(account.role, access);
  if (!mayUse || (scope === "operator" && isMerchants)) {
    return new PortalRefusal(403, notAllowed, `The role ${account.role} may not do this.`);
  }
  if (isMerchants && account.merchantId === undefined) return signedOut;
  const actor = actorOf(account, visit);
  const caller = { ...visit, session, account, merchantId: account.merchantId, actor };
  return account.isPasswordTemporary ? { ...caller, ...newBrowser } : caller;
}

const notAllowed = "not_allowed";

function actorOf({ login }: Account, { network }: PortalVisit): Caller["actor"] {
  return { who: login, from: `portal, ${network}` };
}

function admitted(access: Access): readonly SessionState[] {
  if (access === "session") return ["second_factor", "new_password", "enrolment", "in"];
  return access === "enrolling" ? ["enrolment", "in"] : ["in"];
}

function isRight(access: Access): access is Right {
  return !["anyone", "session", "enrolling", "user"].includes(access);
}

/** Joins the parameters in the path with the query of a GET or the JSON body of a POST. */
function readInput(
  name: string,
  { method, url, params, body }: HttpRequest,
): object | PortalRefusal {
  const names = [...name.matchAll(/\/:(\w+)/g)].map(([, each = ""]) => each);
  const ofPath = Object.fromEntries(names.map((each, index) => [each, params[index]]));
  if (method !== "POST") {
    const { searchParams } = new URL(url, "http://gateway");
    return { ...Object.fromEntries(searchParams), ...ofPath };
  }
  try {
    const sent = body.length === 0 ? {} : JSON.parse(new TextDecoder().decode(body));
    return { ...sent, ...ofPath };
  } catch {
    return new PortalRefusal(400, "invalid_input", "The request is no JSON.");
  }
}

/**
 * Only the portal's own pages can send the header `x-portal`: for a page of another site, the
 * browser asks the gateway for permission first, which the gateway never gives. The browser sets
 * the headers `Origin` and `Sec-Fetch-Site`, so a page cannot forge them.
 */
function isOwnOrigin({ headers }: HttpRequest, options: PipelineOptions): boolean {
  const { "x-portal": own, "sec-fetch-site": site = "same-origin", origin: sent } = headers;
  const isHere = sent === undefined || options.origins().includes(sent);
  return own !== undefined && site === "same-origin" && isHere;
}

function reply(result: unknown, cookies: readonly string[] = []): HttpReply {
  const set = cookies.length === 0 ? {} : { "set-cookie": [...cookies] };
  const headers = { ...apiHeaders, ...set };
  if (result instanceof PortalFile) return fileReply(result, headers);
  if (!(result instanceof PortalRefusal))
    return { status: 200, headers, body: JSON.stringify(result) };
  const { status, code, message, field } = result;
  return { status, headers, body: JSON.stringify({ error: { code, message, field } }) };
}

function fileReply({ name, parts }: PortalFile, headers: HttpReply["headers"]): HttpReply {
  const own = {
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${name}"`,
  };
  return { status: 200, headers: { ...headers, ...own }, body: "", parts };
}
