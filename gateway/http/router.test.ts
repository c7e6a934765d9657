/** The routes that requests find. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpRoute, makeRouter } from "./router.ts";

const answer = async () => ({ status: 200, headers: {}, body: "" });
const routes = (
  [
    ["GET", "/"],
    ["POST", "/api/sale/:id"],
    ["*", "/api/sale/:id"],
    ["POST", "/api/sale/group/:id"],
    ["GET", "/form/:order/:token"],
    ["GET", "/portal/:screen"],
    ["POST", "/portal/orders"],
  ] as const
).map(([method, path]): HttpRoute => ({ method, path, answer }));
const long = "9".repeat(200);

// biome-ignore format: a table
const requests: readonly (readonly [method: string, url: string, found: string | 400 | 404])[] = [
  ["GET",    "/",                           "GET / "],
  ["GET",    "/?order=1",                   "GET / "],
  ["POST",   "/api/sale/1001",              "POST /api/sale/:id 1001"],
  ["POST",   "/api/sale/1001/",             "POST /api/sale/:id 1001"],
  ["POST",   "/api/sale/1001?a=/b/",        "POST /api/sale/:id 1001"],
  ["POST",   "http://host:80/api/sale/1?a", "POST /api/sale/:id 1"],
  ["POST",   "/api/sale/%31%201",           "POST /api/sale/:id 1 1"],
  ["POST",   `/api/sale/${long}`,           `POST /api/sale/:id ${long}`],
  ["DELETE", "/api/sale/1001",              "* /api/sale/:id 1001"],
  ["POST",   "/api/sale/group/1007",        "POST /api/sale/group/:id 1007"],
  ["POST",   "/api/sale/group",             "POST /api/sale/:id group"],
  ["GET",    "/form/4200/t0ken",            "GET /form/:order/:token 4200 t0ken"],
  ["GET",    "/portal/orders",              "GET /portal/:screen orders"],
  ["POST",   "/portal/orders",              "POST /portal/orders "],
  ["POST",   "/portal/home",                404],
  ["POST",   "/api/sale/%zz",               400],
  ["POST",   "/api/sale/%ff",               400],
  ["HEAD",   "/",                           "GET / "],
  ["HEAD",   "/api/sale/1001",              "* /api/sale/:id 1001"],
  ["HEAD",   "/form/4200",                  404],
  ["GET",    "/form/4200",                  404],
  ["GET",    "/form//t0ken",                404],
  ["POST",   "/api/sale/",                  404],
  ["POST",   "/api/sale//",                 404],
  ["POST",   "/api/sale/1/2",               404],
  ["POST",   "/api/sale/group/1007/1",      404],
  ["POST",   `/api/sale/${long}9`,          404],
  ["POST",   "/API/sale/1001",              404],
  ["POST",   "/api/s%61le/1001",            404],
  ["POST",   "//api/sale/1001",             404],
  ["POST",   "/api/sale/../sale/1001",      404],
  ["POST",   "/api/sale/..",                404],
  ["POST",   "/api/sale/.?a",               404],
  ["POST",   "/api/sale/%2E./",             404],
  ["GET",    "/portal/%2e%2e",              404],
  ["GET",    "http://host/form/./t0ken",    404],
  ["POST",   "/api/sale/1%2f1",             404],
  ["POST",   "/api/sale/1%5C1",             404],
  ["POST",   "/api/sale/1\\1",              404],
  ["POST",   "/api/sale/1..1?a=%2f../",     "POST /api/sale/:id 1..1"],
  ["OPTIONS", "*",                          404],
  ["GET",    "",                            404],
];

test("a request finds its route by method and path, and its parameters decoded", () => {
  const find = makeRouter(routes);

  for (const [method, url, expected] of requests) {
    const found = find(method, url);

    const { route, params } = typeof found === "number" ? none : found;
    const printed = route && `${route.method} ${route.path} ${params.join(" ")}`;
    assert.equal(printed ?? found, expected, `${method} ${url}`);
  }
});

const none = { route: undefined, params: [] };
