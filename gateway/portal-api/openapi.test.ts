/** Tests the portal's OpenAPI document as the gateway serves it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpRequest } from "../http/router.ts";
import { openApiRoute } from "./openapi.ts";

test("after a failure the document is made by the next request, and then only once", async () => {
  let count = 0;
  const { answer } = openApiRoute(["GET /home"], async () => {
    count += 1;
    if (count === 1) throw new Error("the actions could not be loaded");
    return new Map();
  });
  // The document does not depend on the request.
  const ask = () => answer({} as HttpRequest);

  await assert.rejects(ask());
  const replies = [await ask(), await ask()];

  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200],
  );
  assert.equal(count, 2);
});
